package checks

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var deviceNodes = register(&Check{
	ID:    "device-nodes",
	Title: "the device nodes of the RDMA devices open",
	Doc: "A program opens /dev/infiniband/uverbsN of a device, and rdma_cm where it connects by address. Only open " +
		"tells whether it may: file mode, LSM, device cgroup and namespace mode refuse alike and are told apart by errno.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.CharDevNodes},
	Uses:  []facts.Source{facts.Namespaces, facts.RDMANetlink, facts.Links, facts.ProcessList},
	Codes: []string{"device-node-missing", "device-node-denied", "device-node-cgroup-denied", "netns-exclusive"},
	Params: Params{
		"device-node-missing":       "path kind device?",
		"device-node-denied":        "path kind device? user? mode? reason",
		"device-node-cgroup-denied": "path kind device? user?",
		"netns-exclusive":           netnsParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.CharDevNodes, facts.Namespaces, facts.RDMANetlink)
		inContainer := s.Host.Container.Or("") != ""
		usable := slices.ContainsFunc(s.CharDevs, func(c facts.CharDev) bool {
			why, ok := c.OpenError.Get()
			return c.Kind == "uverbs" && ok && why == ""
		})
		for d := range p.Devices(nil) {
			i := slices.IndexFunc(s.CharDevs, func(c facts.CharDev) bool {
				return c.Kind == "uverbs" && c.Device == d.Name
			})
			if i < 0 {
				p.NotApplicable("the kernel registered no uverbs device")
				continue
			}
			want, _ := p.WantedDevice(d)
			if inContainer && usable && !slices.Contains(p.opt.Wanted, d.Name) {
				want = false // A container needs one device, not all of the host's.
			}
			severity := Fail
			if !want {
				severity = Info
			}
			judgeNode(p, s, &s.CharDevs[i], severity, Where{Device: d.Name, PCI: d.PCI.Or("")})
		}
		for i := range s.CharDevs {
			c := &s.CharDevs[i]
			if c.Kind == "rdma_cm" && c.SysfsDev.Known() && len(s.Devices) > 0 {
				p.Examine(1)
				judgeNode(p, s, c, Warn, Where{})
			}
		}
	},
})

// judgeNode reports what keeps the examining user from opening c.
func judgeNode(p *Pass, s *facts.Snapshot, c *facts.CharDev, severity Severity, where Where) {
	subject := c.Device
	if subject == "" {
		subject = hostSubject
	}
	f := Finding{Severity: severity, Subject: subject, Confidence: Proved, Where: where}
	base := []string{"path", c.Path, "kind", c.Kind, "device", c.Device}
	user := s.Self.User
	if uid, ok := s.Self.UID.Get(); ok && user == "" {
		user = strconv.Itoa(uid)
	}
	exists, looked := c.Exists.Get()
	number, numbered := c.Number.Get()
	why, tried := c.OpenError.Get()
	switch {
	case looked && !exists || tried && why == "ENOENT":
		f.Code, f.Params = "device-node-missing", params(base...)
		f.Message = fmt.Sprintf("the kernel registered %s as %s and %s does not exist", c.Kind, c.SysfsDev, c.Path)
		f.Evidence = []Evidence{{c.Path, "ENOENT"}, {sysfsDevFile(c), c.SysfsDev.String()}}
	case numbered && c.SysfsDev.Known() && number != c.SysfsDev.Or(""):
		f.Code, f.Params = "device-node-missing", params(base...)
		f.Message = fmt.Sprintf("%s is device %s, the kernel registered %s", c.Path, number, c.SysfsDev)
		f.Evidence = []Evidence{{c.Path, number}, {sysfsDevFile(c), c.SysfsDev.String()}}
	case !tried:
		p.Unread(c.Path, "open")
		return
	case why == "":
		return
	case why == "EACCES":
		mode, reason := refusal(c, s.Self)
		f.Code = "device-node-denied"
		f.Params = params(append(base, "user", user, "mode", mode, "reason", reason)...)
		f.Message = fmt.Sprintf("open of %s by %s fails with EACCES: %s", c.Path, orUnknown(user), denial(c, mode, reason))
		f.Evidence = []Evidence{{"open(2) " + c.Path, why}, {"stat(2) " + c.Path, owner(c, mode)}}
	case why == "EPERM" && c.Device != "" && s.RDMA.NetnsMode.Or("") == "exclusive" && !s.Host.InitNetns.Or(true):
		f.Code, f.Params = "netns-exclusive", params(base...)
		f.Message = "the RDMA namespace mode is exclusive and the device belongs to another network namespace: open fails with EPERM"
		f.Evidence = []Evidence{{"open(2) " + c.Path, why}, {"RDMA_NLDEV_SYS_ATTR_NETNS_MODE", "exclusive"},
			{"/proc/self/ns/net", "not that of process 1"}}
	case why == "EPERM":
		f.Code, f.Params = "device-node-cgroup-denied", params(append(base, "user", user)...)
		f.Confidence = Likely
		f.Message = fmt.Sprintf("open of %s fails with EPERM, which file modes do not give: a device cgroup refuses it", c.Path)
		f.Evidence = []Evidence{{"open(2) " + c.Path, why},
			{"RDMA_NLDEV_SYS_ATTR_NETNS_MODE", s.RDMA.NetnsMode.Or("not read")}}
	default:
		f.Code, f.Params = "device-node-missing", params(base...)
		f.Message = fmt.Sprintf("open of %s fails with %s: no device answers behind the node", c.Path, why)
		f.Evidence = []Evidence{{"open(2) " + c.Path, why}}
	}
	p.Report(f)
}

// refusal tells whether the file mode explains an EACCES ("mode") or something
// else must ("lsm"). A root user passes any mode.
func refusal(c *facts.CharDev, self facts.Process) (mode, reason string) {
	m, ok := c.Mode.Get()
	if !ok {
		return "", "mode"
	}
	mode = fmt.Sprintf("%04o", m&0o7777)
	uid := self.UID.Or(-1)
	owns := uid >= 0 && uid == c.UID.Or(-2)
	if uid == 0 || m&0o006 == 0o006 || owns && m&0o600 == 0o600 {
		return mode, "lsm"
	}
	return mode, "mode"
}

func denial(c *facts.CharDev, mode, reason string) string {
	if reason == "lsm" {
		return "mode " + mode + " allows it, so an LSM or a nodev mount refuses"
	}
	return owner(c, mode)
}

func owner(c *facts.CharDev, mode string) string {
	if mode == "" {
		return "mode not read"
	}
	return fmt.Sprintf("mode %s, owner %s:%s", mode, c.UID, c.GID)
}

func orUnknown(user string) string {
	if user == "" {
		return "this user"
	}
	return user
}

// sysfsDevFile is where the kernel tells the number of a registered device.
func sysfsDevFile(c *facts.CharDev) string {
	if c.Kind == "rdma_cm" {
		return "/sys/class/misc/rdma_cm/dev"
	}
	return "/sys/class/infiniband_verbs/" + path.Base(c.Path) + "/dev"
}
