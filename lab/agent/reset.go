package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

const (
	// killLimit is how long killed processes may take to be gone.
	killLimit = 3 * time.Second
	// resetLimit is how long the rest of a reset may take. A guest that
	// is not as it was after that is not worth trusting; a new one boots in
	// little more.
	resetLimit = 5 * time.Second
)

// reset brings the guest back to what it was at boot.
func (s *server) reset() wire.Answer {
	// Cleaning can hang in the kernel for good: to delete an RDMA device
	// waits for whoever holds it.
	done := make(chan wire.Answer, 1)
	go func() { done <- s.resetAll() }()
	select {
	case a := <-done:
		return a
	case <-time.After(killLimit + 2*resetLimit):
		return wire.Answer{Differences: []string{"reset: hangs in the kernel"}}
	}
}

// resetAll kills, replaces the root, and cleans until nothing differs.
func (s *server) resetAll() wire.Answer {
	if err := killAll(killLimit); err != nil {
		return wire.Answer{Differences: []string{"processes: " + err.Error()}}
	}
	if err := s.root.leave(); err != nil {
		return wire.Answer{Error: err.Error()}
	}
	if err := s.root.enter(); err != nil {
		return wire.Answer{Error: err.Error()}
	}
	if err := rebindNetwork(); err != nil {
		return wire.Answer{Error: err.Error()}
	}
	for end := time.Now().Add(resetLimit); ; {
		if err := s.clean(); err != nil {
			return wire.Answer{Error: err.Error()}
		}
		inv, err := takeInventory(s.root)
		if err != nil {
			return wire.Answer{Error: "inventory: " + err.Error()}
		}
		diff := differences(s.base, inv)
		if len(diff) == 0 || time.Now().After(end) {
			if err := overwriteKernelLog(); err != nil {
				return wire.Answer{Error: err.Error()}
			}
			return wire.Answer{Inventory: &inv, Differences: diff}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// killAll kills every process of user space but this one, those in network
// namespaces and other control groups too, until none is left.
func killAll(limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		all, err := processes()
		if err != nil || len(all) == 0 {
			return err
		}
		for _, p := range all {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d do not die, %q first", len(all), all[0].name)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// clean removes what is not in the inventory of the boot. What another thing
// still holds fails, and is tried again by the next call.
func (s *server) clean() error {
	rdma, err := rdmaLinks()
	if err != nil {
		return err
	}
	for _, l := range rdma {
		deleteRdmaLink(l.index)
	}
	if moduleLoaded("nf_tables") {
		s.runTool("nft", "flush", "ruleset")
	}
	if err := s.cleanLinks(); err != nil {
		return err
	}
	if err := s.cleanRoutes(); err != nil {
		return err
	}
	removeConfigured()
	if err := s.unloadModules(); err != nil {
		return err
	}
	if err := s.cleanCgroups(); err != nil {
		return err
	}
	if err := restoreDevices(s.base["devices"]); err != nil {
		return err
	}
	return restoreSysctls(s.base["sysctl"])
}

// runTool runs one program of the guest's root to its end.
func (s *server) runTool(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if err := s.reap.start(cmd); err != nil {
		return fmt.Errorf("run %q: %w", name, err)
	}
	defer s.reap.done(cmd.Process.Pid)
	return cmd.Wait()
}

// cleanLinks deletes network devices. A device of a driver is not deleted by
// this but by unloading the driver.
func (s *server) cleanLinks() error {
	all, err := links()
	if err != nil {
		return err
	}
	for _, l := range all {
		known := slices.ContainsFunc(s.base["links"], func(state string) bool {
			return strings.HasPrefix(state, l.name+" ")
		})
		if known {
			deleteQdiscs(l.index)
		} else {
			deleteLink(l.index)
		}
	}
	return nil
}

// cleanRoutes deletes routes and rules.
func (s *server) cleanRoutes() error {
	for _, kind := range []struct {
		section     string
		get, delete netlink.HeaderType
	}{
		{"routes", unix.RTM_GETROUTE, unix.RTM_DELROUTE},
		{"rules", unix.RTM_GETRULE, unix.RTM_DELRULE},
	} {
		all, err := routes(kind.get)
		if err != nil {
			return err
		}
		for _, r := range all {
			if !slices.Contains(s.base[kind.section], r.key) {
				deleteRoute(kind.delete, r)
			}
		}
	}
	return nil
}

// removeConfigured removes what was made below configfs, such as the folders of
// rdma_cm's defaults. Each holds the module whose it is. Folders that the
// kernel made stay, since it refuses to remove them.
func removeConfigured() {
	made, _ := filepath.Glob("/sys/kernel/config/*/*")
	for _, name := range made {
		unix.Rmdir(name)
	}
}

// unloadModules unloads modules until none more can be.
func (s *server) unloadModules() error {
	for {
		loaded, err := modules()
		if err != nil {
			return err
		}
		unloaded := 0
		for _, name := range loaded {
			if slices.Contains(s.base["modules"], name) {
				continue
			}
			if unix.DeleteModule(name, unix.O_NONBLOCK) == nil {
				unloaded++
			}
		}
		if unloaded == 0 {
			return nil
		}
	}
}

// cleanCgroups removes control groups, inner ones first, and what the root
// group hands down beyond what it did.
func (s *server) cleanCgroups() error {
	all, err := cgroups()
	if err != nil {
		return err
	}
	slices.Sort(all)
	for _, item := range slices.Backward(all) {
		if now, ok := strings.CutPrefix(item, "subtree_control "); ok {
			s.restoreSubtreeControl(now)
		} else if !slices.Contains(s.base["cgroups"], item) {
			os.Remove(item)
		}
	}
	return nil
}

func (s *server) restoreSubtreeControl(now string) {
	i := slices.IndexFunc(s.base["cgroups"], func(item string) bool {
		return strings.HasPrefix(item, "subtree_control ")
	})
	base := strings.Fields(s.base["cgroups"][i])
	for _, controller := range strings.Fields(now) {
		if !slices.Contains(base, controller) {
			os.WriteFile(cgroupDir+"/cgroup.subtree_control",
				[]byte("-"+controller), 0o644)
		}
	}
}

// rebindNetwork takes the network cards from their driver and gives them
// back, which makes their interfaces new: no addresses, no queueing
// discipline, no changed setting.
func rebindNetwork() error {
	const driver = "/sys/bus/virtio/drivers/virtio_net/"
	entries, err := os.ReadDir(driver)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("rebind network: %w", err)
	}
	var cards []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "virtio") {
			cards = append(cards, e.Name())
		}
	}
	for _, action := range []string{"unbind", "bind"} {
		for _, card := range cards {
			err := os.WriteFile(driver+action, []byte(card), 0o200)
			if err != nil {
				return fmt.Errorf("rebind network: %w", err)
			}
		}
	}
	return nil
}

// restoreDevices brings device nodes back: removed ones, new ones, changed
// modes and owners. Nodes of devices that are gone went with them.
func restoreDevices(base []string) error {
	now, err := deviceNodes()
	if err != nil {
		return err
	}
	for _, item := range missing(now, base) {
		name, _, _ := strings.Cut(item, " ")
		os.Remove(name)
	}
	for _, item := range missing(base, now) {
		var name string
		var mode uint32
		var uid, gid, dev int
		_, err := fmt.Sscanf(item, "%s %o %d:%d %d", &name, &mode, &uid, &gid, &dev)
		if err != nil {
			return fmt.Errorf("restore devices: %q: %w", item, err)
		}
		unix.Mknod(name, mode, dev)
		os.Lchown(name, uid, gid)
		unix.Chmod(name, mode&0o7777)
	}
	return nil
}

// overwriteKernelLog fills the kernel's log, so that a scenario does not
// find the lines of the one before it. The ring has 128 KiB in Debian's
// kernels (CONFIG_LOG_BUF_SHIFT=17), a line at most 1 KiB.
func overwriteKernelLog() error {
	f, err := os.OpenFile("/dev/kmsg", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("overwrite kernel log: %w", err)
	}
	defer f.Close()
	line := "<7>lab: reset" + strings.Repeat(" .", 440)
	for range 160 {
		if _, err := f.WriteString(line); err != nil {
			return fmt.Errorf("overwrite kernel log: %w", err)
		}
	}
	return nil
}
