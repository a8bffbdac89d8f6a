package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/lab/tool"
	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// Files of a guest's run folder.
const (
	consoleFile   = "console.log"
	qemuLogFile   = "qemu.log"
	channelSocket = "channel.sock"
	qmpSocket     = "qmp.sock"
	initramfsFile = "initramfs.img"
	workFolder    = "work"
)

// cpuModel is what any program of a distribution needs (x86-64-v2), and no
// more: where AVX is there programs use it, and emulated it is slower than what
// they use without.
const cpuModel = "qemu64,+cx16,+lahf-lm,+popcnt,+ssse3,+sse4.1,+sse4.2"

// qemuArgs is the command line of a guest whose files are in dir.
func qemuArgs(o Options, dir string) []string {
	in := func(name string) string { return filepath.Join(dir, name) }
	accel, smp := "tcg", "1"
	args := []string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-M", "q35", "-cpu", cpuModel, "-smp", smp, "-m", fmt.Sprint(o.MemoryMiB),
		"-kernel", o.Kernel.Image, "-initrd", in(initramfsFile),
		// Expedited grace periods make unloading modules and ending network
		// namespaces take milliseconds; devkmsg=on lets the agent overwrite
		// the kernel's log; an oops must end the guest, not go unnoticed.
		"-append", "console=ttyS0 quiet panic=-1 oops=panic mitigations=off " +
			"rcupdate.rcu_expedited=1 printk.devkmsg=on",
		"-serial", "file:" + in(consoleFile),
		"-chardev", "socket,id=qmp,path=" + in(qmpSocket),
		"-mon", "chardev=qmp,mode=control",
		"-device", "virtio-serial-pci",
		"-chardev", "socket,id=channel,path=" + in(channelSocket),
		"-device", "virtserialport,id=port,chardev=channel,name=" + wire.PortName,
		"-virtfs", "local,path=/,readonly=on,security_model=none," +
			"multidevs=remap,mount_tag=" + wire.RootTag,
		"-virtfs", "local,path=" + in(workFolder) + ",security_model=none," +
			"multidevs=remap,mount_tag=" + wire.WorkTag,
	}
	if o.Steady {
		accel += ",thread=single"
		args = append(args, "-icount", "shift=2,sleep=off")
	}
	args = append(args, "-accel", accel)
	for i, n := range o.Networks {
		args = append(args,
			"-netdev", fmt.Sprintf("stream,id=net%d,server=off,addr.type=unix,"+
				"addr.path=%s", i, n.Socket),
			// Without a boot ROM the firmware has nothing to wait for.
			"-device", fmt.Sprintf("virtio-net-pci,netdev=net%d,mac=%s,"+
				"host_mtu=%d,romfile=", i, n.MAC, n.MTU))
	}
	return args
}

// machine is a running QEMU.
type machine struct {
	pid    int
	exited chan struct{} // closed when it has been waited for
	state  string        // how it ended, to be read after exited
}

// startMachine starts QEMU. It is killed when this process ends, however it
// ends.
func startMachine(o Options, dir string) (*machine, error) {
	qemu, err := tool.Find("qemu-system-x86_64")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, qemuLogFile))
	if err != nil {
		return nil, fmt.Errorf("start qemu: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(qemu, qemuArgs(o, dir)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	m := &machine{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The death signal is sent when the thread that started QEMU ends,
		// so that thread stays with it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			m.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		cmd.Wait()
		m.state = cmd.ProcessState.String()
		close(m.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start qemu: %w", err)
	}
	return m, nil
}

// kill ends QEMU and whatever it started, and waits for the end.
func (m *machine) kill() {
	select {
	case <-m.exited:
		return // Its number may be another's by now.
	default:
	}
	syscall.Kill(-m.pid, syscall.SIGKILL)
	<-m.exited
}

// qemuLog is what QEMU itself said.
func qemuLog(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, qemuLogFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(printable(string(b)))
}
