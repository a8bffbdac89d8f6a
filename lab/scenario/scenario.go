// Package scenario runs rdmadoctor against hosts made sick on purpose.
//
// A scenario is a file of data: how a guest is set up, what is broken, which
// diagnosis must come out on top. The cure is the product's own: the commands
// of the top diagnosis are run verbatim, and the finding must be gone.
package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
)

// Scenario is one file of lab/scenarios.
type Scenario struct {
	// ID is the name of the file, without .yaml.
	ID string `yaml:"id"`
	// About says in one line what is broken.
	About string `yaml:"about"`
	// Topology is "single" (the default), "pair" or "quad". The doctor runs
	// on host a.
	Topology string `yaml:"topology"`
	// Kernels are the series to run on, all if empty.
	Kernels []string `yaml:"kernels"`
	// Always runs it on all of Kernels even when a suite is spread.
	Always bool `yaml:"always"`
	// User is who runs the doctor, root if empty. Another user logs in
	// through su, so that the limits of limits.conf(5) apply.
	User string `yaml:"user"`
	// Netns is the network namespace of host a that the doctor runs in, as a
	// container would, if set. Setup or Fault makes it.
	Netns string `yaml:"netns"`
	// Within is what a shell does before it becomes the doctor, such as what
	// a container's runtime does: text that ends with a command that runs
	// the words after it ("exec setpriv --no-new-privs").
	Within string `yaml:"within"`
	// Compare says that the doctor records every host and compares the
	// recordings, instead of checking host a.
	Compare bool `yaml:"compare"`
	// Probe are the words after "rdmadoctor probe" where the doctor probes
	// instead of checking: "self", or the address of another host.
	Probe string `yaml:"probe"`
	// WantStep is the first step of a ladder that must have failed, and with
	// what: "reg-mr ENOMEM", "write status 12", "resolve-addr". "none" wants
	// that every step passed.
	WantStep string `yaml:"want_step"`
	// Modules are loaded on every host, "name parameter=value ..." each.
	Modules []string `yaml:"modules"`
	// Use names scripts of lab/scenarios/use, run before Setup on host a.
	Use []string `yaml:"use"`
	// Setup makes hosts that work.
	Setup []Step `yaml:"setup"`
	// Fault breaks one thing.
	Fault []Step `yaml:"fault"`
	// During runs from before the doctor's first sample until after its
	// last, and is killed then. It is run again for the check after the cure.
	During []Step `yaml:"during"`
	// Ready is a condition on host a, asked until it holds after During has
	// been started, at most 20 s.
	Ready string `yaml:"ready"`
	// Command, if set, is examined by instead of a check: arguments of
	// rdmadoctor that print a report as JSON, such as those of a check of
	// what a flight recorder has kept.
	Command []string `yaml:"command"`
	// Args are further arguments of rdmadoctor check.
	Args []string `yaml:"args"`
	// Want are codes of findings. The first must be the top diagnosis. None
	// means a healthy host: no warning, no failure, exit code 0.
	Want []string `yaml:"want"`
	// WantSeverity is the top diagnosis's, if set.
	WantSeverity string `yaml:"want_severity"`
	// WantSubject is the top diagnosis's, if set.
	WantSubject string `yaml:"want_subject"`
	// Order are the codes of all diagnoses in the order they must come, if set.
	Order []string `yaml:"order"`
	// WantStatus are statuses that checks must end with, by the check's id.
	WantStatus map[string]string `yaml:"want_status"`
	// Allow are codes of warnings and failures that may be found besides
	// Want. Any other one is a false alarm.
	Allow []string `yaml:"allow"`
	// AllowInfo are codes of findings of severity info that may be found.
	AllowInfo []string `yaml:"allow_info"`
	// Forbid are codes that must not be found in any severity.
	Forbid []string `yaml:"forbid"`
	// MinPass is how many checks must pass at least.
	MinPass int `yaml:"min_pass"`
	// Exit is the doctor's exit code, if set.
	Exit *int `yaml:"exit"`
	// Timeout ends each run of the doctor, one minute if 0.
	Timeout time.Duration `yaml:"timeout"`
	// Cure replaces the product's own. It needs a Why: a package to install,
	// a fault of the network or of a peer.
	Cure []Step `yaml:"cure"`
	// Why says why the product's fix cannot be run in the lab.
	Why string `yaml:"why"`
	// Undo takes the fault back, and the finding must go, where there is no
	// fix to run: the top diagnosis is information, or hands have to mend it,
	// as Why says. The second is believed only of a report whose fix has no
	// command that could be run on the host.
	Undo []Step `yaml:"undo"`
	// RecheckUser is who runs the doctor after the cure, User if empty.
	RecheckUser string `yaml:"recheck_user"`
}

// Step is a shell script on one host. In a file it is a text, or
// {on: HOST, run: TEXT}.
type Step struct {
	// On is the host's letter, "a" if empty, or "net" for the network.
	On string `yaml:"on"`
	// Run is the text for sh -c, or for netswitch.Fabric.Command.
	Run string `yaml:"run"`
}

// network is the On of steps on the network between hosts.
const network = "net"

// UnmarshalYAML reads either form.
func (s *Step) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		s.Run = n.Value
		return nil
	}
	type plain Step
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; name != "on" && name != "run" {
			return fmt.Errorf("line %d: unknown field %q of a step",
				n.Content[i].Line, name)
		}
	}
	return n.Decode((*plain)(s))
}

// Healthy says whether the scenario wants no finding.
func (s Scenario) Healthy() bool { return len(s.Want) == 0 }

// OwnCure says whether the scenario brings its own cure.
func (s Scenario) OwnCure() bool { return len(s.Cure) > 0 }

// ByHand says whether the fault is one that no command could mend.
func (s Scenario) ByHand() bool { return len(s.Undo) > 0 && s.WantSeverity != "info" }

// fresh says whether the doctor looks at the host itself, and so can record
// what it reads.
func (s Scenario) fresh() bool { return !s.Compare && len(s.Command) == 0 }

// Hosts are the letters of the topology's hosts.
func (s Scenario) Hosts() []string { return slices.Concat(topologies[s.Topology]...) }

// topologies are the leaves of the network, and their hosts. A single host
// has no network.
var topologies = map[string][][]string{
	"single": {{"a"}},
	"pair":   {{"a", "b"}},
	"quad":   {{"a", "b"}, {"c", "d"}},
}

// Load reads and checks all scenarios of a folder. Scripts maps each name of
// use/*.sh to its text.
func Load(dir fs.FS) (all []Scenario, scripts map[string]string, err error) {
	scripts = make(map[string]string)
	names, err := fs.Glob(dir, "use/*.sh")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read script: %w", err)
		}
		scripts[strings.TrimSuffix(path.Base(name), ".sh")] = string(b)
	}
	if names, err = fs.Glob(dir, "*.yaml"); err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read scenario: %w", err)
		}
		s, err := Parse(b)
		if err == nil && s.ID != strings.TrimSuffix(name, ".yaml") {
			err = fmt.Errorf("id %q is not the file's name", s.ID)
		}
		for _, use := range s.Use {
			if _, ok := scripts[use]; !ok && err == nil {
				err = fmt.Errorf("use %q: no such script", use)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		all = append(all, s)
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("read scenarios: there are none"))
	}
	return all, scripts, errors.Join(errs...)
}

// Parse reads one scenario and checks that it can mean something.
func Parse(b []byte) (Scenario, error) {
	s := Scenario{}
	if err := yaml.Load(b, &s, yaml.WithKnownFields()); err != nil {
		return Scenario{}, err
	}
	if s.Topology == "" {
		s.Topology = "single"
	}
	if len(s.Kernels) == 0 {
		s.Kernels = kernels.Series()
	}
	if s.User == "" {
		s.User = "root"
	}
	if s.RecheckUser == "" {
		s.RecheckUser = s.User
	}
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	return s, s.check()
}

// statuses are those that a check can end with.
var statuses = []string{"pass", "warn", "fail", "skip", "unknown"}

var (
	idPattern   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	userPattern = regexp.MustCompile(`^[a-z_][a-z0-9_-]*$`)
)

// check says what is wrong with a scenario.
func (s Scenario) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(format, args...))
	}
	if !idPattern.MatchString(s.ID) {
		bad("id %q: want lower case words joined by -", s.ID)
	}
	if s.About == "" {
		bad("about: empty")
	}
	if s.Hosts() == nil {
		bad("topology %q: want single, pair or quad", s.Topology)
	}
	for _, k := range s.Kernels {
		if !slices.Contains(kernels.Series(), k) {
			bad("kernel %q: want some of %q", k, kernels.Series())
		}
	}
	if s.Netns != "" && !idPattern.MatchString(s.Netns) {
		bad("netns %q: want lower case words joined by -", s.Netns)
	}
	if len(s.Command) > 0 && (s.Compare || len(s.Args) > 0) {
		bad("command: replaces args and compare")
	}
	if s.Probe != "" && (s.Compare || s.Netns != "") || s.WantStep != "" && s.Probe == "" {
		bad("probe: with neither compare nor netns, and want_step with it alone")
	}
	if s.Compare && len(s.Hosts()) < 2 {
		bad("compare: topology %s has one host", s.Topology)
	}
	for _, user := range []string{s.User, s.RecheckUser} {
		if !userPattern.MatchString(user) {
			bad("user %q: no user name", user)
		}
	}
	for _, steps := range [][]Step{s.Setup, s.Fault, s.During, s.Cure, s.Undo} {
		for _, step := range steps {
			net := step.On == network && len(s.Hosts()) > 1
			if step.On != "" && !net && !slices.Contains(s.Hosts(), step.On) {
				bad("step on %q: topology %s has %q", step.On, s.Topology, s.Hosts())
			}
			if strings.TrimSpace(step.Run) == "" {
				bad("empty step")
			}
		}
	}
	for _, step := range s.During {
		if step.On == network {
			bad("during on the network: set it as a fault")
		}
	}
	if s.MinPass < 1 {
		bad("min_pass %d: a doctor that judges nothing would do", s.MinPass)
	}
	if s.Healthy() && (len(s.Fault) > 0 || s.OwnCure() || s.WantSeverity != "" ||
		s.WantSubject != "" || len(s.Order) > 0 || len(s.Allow) > 0) {
		bad("healthy: wants nothing, so fault, cure, allow, order, want_severity " +
			"and want_subject make no sense")
	}
	if len(s.Undo) > 0 && (s.OwnCure() || s.WantSeverity == "") {
		bad("undo: only without cure and with want_severity")
	}
	for id, status := range s.WantStatus {
		if !slices.Contains(statuses, status) {
			bad("want_status of %s: got %q, want some of %q", id, status, statuses)
		}
	}
	if s.Why != "" != (s.OwnCure() || s.ByHand()) {
		bad("cure and why: either both or none, and so with undo of more than information")
	}
	if s.Timeout < time.Second || s.Timeout > 10*time.Minute {
		bad("timeout %v: want 1s to 10m", s.Timeout)
	}
	return errors.Join(errs...)
}
