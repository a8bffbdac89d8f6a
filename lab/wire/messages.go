package wire

// Greeting is what the agent says when the guest is ready.
type Greeting struct {
	// Release is the guest's kernel, as uname -r prints it.
	Release string `json:"release"`
}

// Command is a program to start in the guest.
type Command struct {
	// Argv is the program and its arguments, looked up in Env's PATH.
	Argv []string `json:"argv"`
	// Dir is the working directory, "/" if empty.
	Dir string `json:"dir,omitempty"`
	// Env is the environment, NAME=value each.
	Env []string `json:"env,omitempty"`
	// User is a name or a number, root if empty.
	User string `json:"user,omitempty"`
	// Cgroup is the path below /sys/fs/cgroup to start it in. It is made if
	// absent.
	Cgroup string `json:"cgroup,omitempty"`
	// Terminal asks for a pseudo terminal of this size, with input, output
	// and error output on it.
	Terminal *Size `json:"terminal,omitempty"`
}

// Size is the size of a terminal in character cells.
type Size struct {
	Rows    uint16 `json:"rows"`
	Columns uint16 `json:"columns"`
}

// Kill names the signal to send.
type Kill struct {
	Signal int `json:"signal"`
}

// Ending says how a command ended.
type Ending struct {
	// Code is the exit code, 128 + signal number if a signal ended it.
	Code int `json:"code"`
	// Error says why the command could not be started.
	Error string `json:"error,omitempty"`
}

// Request is something that the agent itself does.
type Request struct {
	// Op is "inventory" or "reset".
	Op string `json:"op"`
}

// Answer is the outcome of a Request.
type Answer struct {
	// Error is empty if the request was done.
	Error string `json:"error,omitempty"`
	// Inventory is the guest's state after the request.
	Inventory *Inventory `json:"inventory,omitempty"`
	// Differences are what a reset could not bring back, one line each. A
	// reset worked if there are none.
	Differences []string `json:"differences,omitempty"`
}

// Inventory is what a scenario may change in a guest, as the agent found it:
// for each section, each item that is there.
type Inventory map[string][]string

const (
	// PortName is the name of the virtio serial port of the channel.
	PortName = "rdmadoctor.lab"
	// BootFile is where the initramfs has its Boot.
	BootFile = "/boot.json"
	// RootTag is the 9p tag of the host's root file system.
	RootTag = "lab-root"
	// WorkTag is the 9p tag of the folder that guest and host both write.
	WorkTag = "lab-work"
	// Path is the PATH of commands in the guest.
	Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/lab/bin"
)

// Boot is what the lab tells the agent in the initramfs.
type Boot struct {
	// Hostname is the guest's host name.
	Hostname string `json:"hostname"`
	// Release is the kernel, as uname -r prints it.
	Release string `json:"release"`
	// Modules are files of the initramfs, to be loaded in that order.
	Modules []string `json:"modules"`
	// ModulesDir is the host's folder to be bound at /lib/modules/Release.
	ModulesDir string `json:"modules_dir"`
	// Tools are files of the work share, copied to /lab/bin.
	Tools []string `json:"tools"`
}
