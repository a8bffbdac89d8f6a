package collect

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

const tracedEnv = "RDMADOCTOR_TEST_TRACED"

// changing are the system calls that a collection never makes.
const changing = "unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,symlink,symlinkat,link,linkat,mknod,mknodat," +
	"chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate,utimensat,setxattr,mount,umount2,pivot_root,chroot," +
	"init_module,finit_module,delete_module,kexec_load,reboot,sethostname,setdomainname,swapon,swapoff,settimeofday,clock_settime," +
	"bpf,perf_event_open,ptrace,setns,unshare,connect,bind,listen,fork,vfork"

// TestNoChangingSystemCalls traces a collection of this host, in a process of
// its own, and looks at what it asks of the kernel.
func TestNoChangingSystemCalls(t *testing.T) {
	if os.Getenv(tracedEnv) != "" {
		Run(t.Context(), &hostio.Live{}, Options{Origin: facts.Live, Interval: 1})
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("RDMADOCTOR_REQUIRE") != "" {
			t.Fatal("strace is not installed, and RDMADOCTOR_REQUIRE wants every test")
		}
		t.Skip("strace is not installed")
	}
	log := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-qq", "-s", "64", "-o", log, "-e", "signal=none",
		"-e", "trace=execve,open,openat,openat2,creat,ioctl,sendto,sendmsg,socket,"+changing,
		os.Args[0], "-test.run=^TestNoChangingSystemCalls$")
	cmd.Env = append(os.Environ(), tracedEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		if b, readErr := os.ReadFile(log); readErr != nil || len(b) == 0 {
			t.Skipf("this host does not let processes be traced: %v: %s", err, out)
		}
		t.Fatalf("collect under strace: %v: %s", err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := map[string]int{}
	var j judge
	for sc := bufio.NewScanner(f); sc.Scan(); {
		name, problem := j.call(sc.Text())
		calls[name]++
		if problem != "" {
			t.Errorf("%s: %s", problem, sc.Text())
		}
	}
	// The first execve is the test itself.
	if calls["execve"] != 1 {
		t.Errorf("%d programs were started", calls["execve"]-1)
	}
	if calls["openat"] == 0 || calls["sendto"] == 0 {
		t.Errorf("the trace shows no collection: %v", calls)
	}
}

var (
	callName    = regexp.MustCompile(`^\d+ +(?:<\.\.\. )?([a-z0-9_]+)`)
	messageType = regexp.MustCompile(`nlmsg_type=([A-Za-z0-9_]+)`)
)

// A judge reads the lines of a trace in order.
type judge struct {
	route bool // the newest socket speaks rtnetlink
}

// call names the call of a line, and says what is wrong with it.
func (j *judge) call(line string) (name, problem string) {
	m := callName.FindStringSubmatch(line)
	if m == nil || strings.Contains(line, "resumed>") {
		return "", ""
	}
	switch name = m[1]; name {
	case "execve":
	case "socket":
		j.route = strings.Contains(line, "NETLINK_ROUTE")
	case "open", "openat":
		writes := strings.Contains(line, "O_WRONLY") || strings.Contains(line, "O_RDWR") || strings.Contains(line, "O_CREAT")
		if writes && !strings.Contains(line, `"/dev/infiniband/`) {
			problem = "opened for writing"
		}
	case "ioctl":
		if !strings.Contains(line, "SIOCETHTOOL") && !strings.Contains(line, "TCGETS") {
			problem = "an ioctl that may change something"
		}
	case "sendto", "sendmsg":
		if m := messageType.FindStringSubmatch(line); m == nil || j.route && !asks(m[1]) {
			problem = "a message that does not ask"
		}
	default:
		problem = "a call that a collection never makes"
	}
	return name, problem
}

// asks reports whether an rtnetlink type, which strace prints as a name or a
// number, is that of a get request.
func asks(typ string) bool {
	n, err := strconv.ParseUint(typ, 0, 16)
	return err == nil && n&3 == 2 || strings.HasPrefix(typ, "RTM_GET")
}

func TestJudgeCall(t *testing.T) {
	j := judge{route: true}
	for line, bad := range map[string]bool{
		`12 openat(AT_FDCWD, "/sys/x", O_RDONLY|O_CLOEXEC) = 3`:                                      false,
		`12 openat(AT_FDCWD, "/sys/x", O_WRONLY) = 3`:                                                true,
		`12 openat(AT_FDCWD, "/dev/infiniband/uverbs0", O_RDWR|O_CLOEXEC) = 3`:                       false,
		`12 ioctl(3, SIOCETHTOOL, 0xc000) = 0`:                                                       false,
		`12 ioctl(3, SIOCSIFFLAGS, 0xc000) = 0`:                                                      true,
		`12 sendto(3, [{nlmsg_len=32, nlmsg_type=RTM_GETLINK, nlmsg_flags=0}], 32, 0) = 32`:          false,
		`12 sendto(3, [{nlmsg_len=32, nlmsg_type=RTM_SETLINK, nlmsg_flags=0}], 32, 0) = 32`:          true,
		`12 sendto(3, [{nlmsg_len=32, nlmsg_type=0x12 /* NLMSG_??? */, nlmsg_flags=0}], 32, 0) = 32`: false,
		`12 sendto(3, [{nlmsg_len=32, nlmsg_type=0x13 /* NLMSG_??? */, nlmsg_flags=0}], 32, 0) = 32`: true,
		`12 sendto(3, ""..., 32, 0, NULL, 0) = 32`:                                                   true,
		`12 mkdir("/x", 0777) = 0`:                                                                   true,
		`12 <... openat resumed>) = 3`:                                                               false,
	} {
		if _, problem := j.call(line); (problem != "") != bad {
			t.Errorf("%s: %q, want a problem: %v", line, problem, bad)
		}
	}
}
