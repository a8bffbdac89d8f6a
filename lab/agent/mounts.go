package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// Folders of the initramfs, outside of the guest's root.
const (
	hostDir  = "/base/host"  // the host's root, read-only
	workDir  = "/base/work"  // shared with the lab, writable
	toolsDir = "/base/tools" // programs of the lab, in memory
	upperDir = "/base/upper" // what the guest writes
	rootDir  = "/base/root"  // where a new root is put together
)

// mount is the arguments of one mount(2).
type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func (m mount) do() error {
	if err := os.MkdirAll(m.target, 0o755); err != nil {
		return fmt.Errorf("mount %q: %w", m.target, err)
	}
	err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data)
	if err != nil {
		return fmt.Errorf("mount %s at %q: %w", m.kind, m.target, err)
	}
	return nil
}

// mountAll does the mounts in order.
func mountAll(mounts []mount) error {
	for _, m := range mounts {
		if err := m.do(); err != nil {
			return err
		}
	}
	return nil
}

// mountBase makes the mounts that stay as long as the guest does.
func mountBase() error {
	const p9 = "trans=virtio,version=9p2000.L,msize=262144"
	err := mountAll([]mount{
		{"proc", "/proc", "proc", 0, ""},
		{"sysfs", "/sys", "sysfs", 0, ""},
		{"devtmpfs", "/dev", "devtmpfs", 0, ""},
		// Nothing changes below the root that matters while a guest runs,
		// so its pages may be kept.
		{wire.RootTag, hostDir, "9p", unix.MS_RDONLY, p9 + ",cache=loose"},
		{wire.WorkTag, workDir, "9p", 0, p9 + ",cache=none"},
	})
	return err
}

// guestRoot is the root that commands run in: an overlay of memory on the
// host's root. Each reset replaces it, which takes back whatever a scenario
// wrote, removed or mounted.
//
// It becomes the root of this process the way switch_root(8) does it, moved
// over "/", and not in a mount namespace of its own: kernel threads share
// this process's root, so a module that the kernel loads by itself comes
// from there too, and to programs the guest looks like a host and not like
// a container.
type guestRoot struct {
	base       int // the initramfs, as a file descriptor
	modulesDir string
	release    string
}

// newGuestRoot remembers the initramfs as the way back.
func newGuestRoot(modulesDir, release string) (*guestRoot, error) {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open initramfs: %w", err)
	}
	return &guestRoot{base: fd, modulesDir: modulesDir, release: release}, nil
}

// enter builds a fresh root and makes it this process's. To be called in the
// initramfs.
func (r *guestRoot) enter() error {
	upper, work := upperDir+"/upper", upperDir+"/work"
	err := mount{"tmpfs", upperDir, "tmpfs", 0, "mode=0755"}.do()
	if err != nil {
		return err
	}
	for _, dir := range []string{upper, work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("build root: %w", err)
		}
	}
	at := func(name string) string { return filepath.Join(rootDir, name) }
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	err = mountAll([]mount{
		{"overlay", rootDir, "overlay", 0, "lowerdir=" + hostDir + ",upperdir=" +
			upper + ",workdir=" + work},
		{"proc", at("proc"), "proc", quiet | unix.MS_NOEXEC, ""},
		{"sysfs", at("sys"), "sysfs", quiet | unix.MS_NOEXEC, ""},
		{"devtmpfs", at("dev"), "devtmpfs", unix.MS_NOSUID, ""},
		{"devpts", at("dev/pts"), "devpts", unix.MS_NOSUID | unix.MS_NOEXEC,
			"gid=5,mode=620,ptmxmode=666"},
		{"tmpfs", at("dev/shm"), "tmpfs", quiet, ""},
		{"tmpfs", at("run"), "tmpfs", quiet, "mode=0755"},
		{"tmpfs", at("tmp"), "tmpfs", quiet, "mode=1777"},
		{"cgroup2", at("sys/fs/cgroup"), "cgroup2", quiet | unix.MS_NOEXEC, ""},
		{"debugfs", at("sys/kernel/debug"), "debugfs", quiet | unix.MS_NOEXEC, ""},
		{"tracefs", at("sys/kernel/tracing"), "tracefs", quiet | unix.MS_NOEXEC, ""},
		{"configfs", at("sys/kernel/config"), "configfs", quiet | unix.MS_NOEXEC, ""},
		{hostDir + r.modulesDir, at("lib/modules/" + r.release), "", unix.MS_BIND, ""},
		{toolsDir, at("lab/bin"), "", unix.MS_BIND, ""},
		{workDir, at("lab/work"), "", unix.MS_BIND, ""},
	})
	if err != nil {
		return err
	}
	// The lab may run in a container; its guests are hosts.
	if err := os.RemoveAll(at(".dockerenv")); err != nil {
		return fmt.Errorf("build root: %w", err)
	}
	if err := os.Chdir(rootDir); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("enter root: move: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	return os.Chdir("/")
}

// leave goes back to the initramfs and takes the root away. To be called
// when no other process is left.
func (r *guestRoot) leave() error {
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("leave root: %w", err)
	}
	// Mounted over "/" it can only be named as "here".
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave root: unmount: %w", err)
	}
	if err := unix.Fchdir(r.base); err != nil {
		return fmt.Errorf("leave root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("leave root: %w", err)
	}
	return unix.Unmount(upperDir, unix.MNT_DETACH)
}

// upperFiles lists what has been written to the root, relative to it. The
// folders that mounts need, made by enter, are among them.
func (r *guestRoot) upperFiles() ([]string, error) {
	// The upper folder is outside of the root that this process is in.
	fd, err := unix.Openat(r.base, upperDir[1:]+"/upper",
		unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("read overlay: %w", err)
	}
	defer unix.Close(fd)
	top := fmt.Sprintf("/proc/self/fd/%d/", fd)
	var names []string
	err = filepath.WalkDir(top, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		if err == nil && rel != "." {
			names = append(names, "/"+rel)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read overlay: %w", err)
	}
	return names, nil
}
