package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const sysctlDir = "/proc/sys"

// restless are settings below /proc/sys that change by themselves, that only
// count something, or that do something when they are written.
var restless = []string{
	"fs/aio-nr", "fs/binfmt_misc", "fs/dentry-state", "fs/file-nr",
	"fs/inode-nr", "fs/inode-state", "fs/quota", "kernel/ns_last_pid",
	"kernel/pty/nr", "kernel/random", "kernel/seccomp", "kernel/tainted",
	"kernel/usermodehelper", "kernel/cad_pid", "kernel/keys",
	"net/netfilter/nf_conntrack_count", "net/ipv4/route/flush",
	"net/ipv6/route/flush", "vm/compact_memory", "vm/drop_caches",
	"vm/stat_refresh", "vm/min_free_kbytes", "vm/user_reserve_kbytes",
	"vm/admin_reserve_kbytes",
}

// deprecated are settings of neighbours whose reading the kernel logs as
// deprecated. The same value is in another file, with _ms at its end.
var deprecated = map[string]bool{"base_reachable_time": true, "retrans_time": true}

// sysctls reads all settings below /proc/sys, by their path there. What only
// can be written is left out.
func sysctls() (map[string]string, error) {
	skip := make(map[string]bool, len(restless))
	for _, name := range restless {
		skip[filepath.Join(sysctlDir, name)] = true
	}
	values := make(map[string]string)
	err := filepath.WalkDir(sysctlDir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case skip[name] && d.IsDir():
			return fs.SkipDir
		case err != nil && name == sysctlDir:
			return err
		case err != nil || skip[name] || d.IsDir() || deprecated[d.Name()]:
			return nil // Folders of an interface come and go with it.
		}
		if b, err := os.ReadFile(name); err == nil {
			values[strings.TrimPrefix(name, sysctlDir+"/")] =
				strings.TrimSpace(string(b))
		}
		return nil
	})
	return values, err
}

// restoreSysctls writes the values of an inventory where they differ. What
// cannot be written back shows as a difference after.
func restoreSysctls(base []string) error {
	now, err := sysctls()
	if err != nil {
		return err
	}
	for _, line := range base {
		name, want, _ := strings.Cut(line, " = ")
		if got, ok := now[name]; ok && got != want {
			os.WriteFile(filepath.Join(sysctlDir, name), []byte(want+"\n"), 0o644)
		}
	}
	return nil
}
