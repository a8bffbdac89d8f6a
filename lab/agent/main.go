// Command agent is the first process of a lab guest. It loads the modules
// that the guest's root needs, builds that root from the host's over 9p, and
// then runs what the lab asks for over the guest's virtio serial port.
//
// It is built without cgo and lies alone in the initramfs as /init, so no
// shell has to work for a guest to say what is wrong with it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "agent: only runs as the first process of a lab guest")
		os.Exit(64)
	}
	err := run()
	fmt.Fprintf(os.Stderr, "\nlab agent: %v\n", err)
	if errors.Is(err, errChannel) {
		// A guest that goes away at once looks like one that died.
		time.Sleep(10 * time.Second)
	}
	// The lab sees the machine going away, and the line above on the
	// console. A first process that returned would be a kernel panic.
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	os.Exit(1)
}

// run boots the guest and serves the lab until the channel ends.
func run() error {
	unix.Umask(0o022)
	// The kernel gives its first process a PATH without /usr/local.
	os.Setenv("PATH", wire.Path)
	b, err := os.ReadFile(wire.BootFile)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var boot wire.Boot
	if err := json.Unmarshal(b, &boot); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	root, err := bootRoot(boot)
	if err != nil {
		return err
	}
	port, err := openPort()
	if err != nil {
		return err
	}
	base, err := takeInventory(root)
	if err != nil {
		return fmt.Errorf("inventory at boot: %w", err)
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return fmt.Errorf("uname: %w", err)
	}
	s := newServer(port, root, base)
	return s.serve(wire.Greeting{Release: unix.ByteSliceToString(uts.Release[:])})
}

// bootRoot does all that has to be done once: modules, base mounts, network
// devices, and the first root.
func bootRoot(boot wire.Boot) (*guestRoot, error) {
	for _, name := range boot.Modules {
		if err := loadModule(name); err != nil {
			return nil, err
		}
	}
	if err := mountBase(); err != nil {
		return nil, err
	}
	if err := copyTools(boot.Tools); err != nil {
		return nil, err
	}
	if err := unix.Sethostname([]byte(boot.Hostname)); err != nil {
		return nil, fmt.Errorf("set host name: %w", err)
	}
	if err := linkUp("lo"); err != nil {
		return nil, err
	}
	root, err := newGuestRoot(boot.ModulesDir, boot.Release)
	if err != nil {
		return nil, err
	}
	return root, root.enter()
}

// loadModule loads a module of the initramfs. One that the kernel has built
// in, or that is loaded, is no error.
func loadModule(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("load module: %w", err)
	}
	defer f.Close()
	err = unix.FinitModule(int(f.Fd()), "", 0)
	if err != nil && err != unix.EEXIST {
		return fmt.Errorf("load module %q: %w", name, err)
	}
	return nil
}

// copyTools copies programs of the work share into the guest's memory: they
// are started many times, and reading 15 MB over 9p takes longer than that.
func copyTools(names []string) error {
	if err := os.MkdirAll(toolsDir, 0o755); err != nil {
		return fmt.Errorf("copy programs: %w", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(workDir + "/" + name)
		if err != nil {
			return fmt.Errorf("copy program: %w", err)
		}
		if err := os.WriteFile(toolsDir+"/"+name, b, 0o755); err != nil {
			return fmt.Errorf("copy program: %w", err)
		}
	}
	return nil
}

// openPort opens the virtio serial port that the lab listens on.
func openPort() (*os.File, error) {
	const class = "/sys/class/virtio-ports"
	ports, err := os.ReadDir(class)
	if err != nil {
		return nil, fmt.Errorf("find channel: %w", err)
	}
	for _, p := range ports {
		name, err := os.ReadFile(class + "/" + p.Name() + "/name")
		if err != nil || string(name) != wire.PortName+"\n" {
			continue
		}
		f, err := os.OpenFile("/dev/"+p.Name(), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("open channel: %w", err)
		}
		return f, nil
	}
	return nil, fmt.Errorf("find channel: none of %d ports is named %q",
		len(ports), wire.PortName)
}
