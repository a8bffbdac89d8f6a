package scenario

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/kmod"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// Options say what a suite runs.
type Options struct {
	// Dir has the scenarios, and use/ with their scripts.
	Dir fs.FS
	// Kernels are the series to run on, side by side; all if empty.
	Kernels []string
	// Only are the ids to run, all if empty.
	Only []string
	// Spread runs a scenario on one of its kernels only, unless it says
	// always: half of the time, and each is still run. It is always the same
	// kernel, so that a failure comes again.
	Spread bool
	// Doctor is the rdmadoctor to examine with, a file of this host that
	// runs in a guest.
	Doctor string
	// Schema is the JSON schema that every report must follow.
	Schema []byte
	// ReadyLimit is how long a scenario's condition may take to hold, 20 s if 0.
	ReadyLimit time.Duration
	// Log is told of each scenario as it ends. Nil tells nobody.
	Log io.Writer
}

// Suite is scenarios that can be run.
type Suite struct {
	opts      Options
	scenarios []Scenario
	scripts   map[string]string
	schema    *schema
	kernels   map[string]kernels.Kernel

	log sync.Mutex // one line at a time

	wide sync.Mutex // held by the kernel that runs four guests

	modules sync.Mutex // serialises builds, which take both cores
}

// New reads the scenarios and makes the kernels ready.
func New(ctx context.Context, o Options) (*Suite, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if len(o.Kernels) == 0 {
		o.Kernels = kernels.Series()
	}
	if o.ReadyLimit == 0 {
		o.ReadyLimit = 20 * time.Second
	}
	all, scripts, err := Load(o.Dir)
	if err != nil {
		return nil, err
	}
	for _, id := range o.Only {
		if !slices.ContainsFunc(all, func(s Scenario) bool { return s.ID == id }) {
			return nil, fmt.Errorf("scenario %q: there is none of that id", id)
		}
	}
	if len(o.Only) > 0 {
		all = slices.DeleteFunc(all, func(s Scenario) bool {
			return !slices.Contains(o.Only, s.ID)
		})
	}
	if o.Spread {
		all = Spread(all)
	}
	s := &Suite{opts: o, scenarios: all, scripts: scripts,
		kernels: make(map[string]kernels.Kernel)}
	if s.schema, err = newSchema(o.Schema); err != nil {
		return nil, err
	}
	if filepath.Base(o.Doctor) != filepath.Base(doctorPath) {
		return nil, fmt.Errorf("doctor %q: want a file named %q", o.Doctor,
			filepath.Base(doctorPath))
	}
	for _, series := range o.Kernels {
		if s.kernels[series], err = lab.Ready(ctx, series); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Spread leaves each scenario one of its kernels, unless it says always. Its id
// chooses which, so that a new scenario moves no other one.
func Spread(all []Scenario) []Scenario {
	all = slices.Clone(all)
	for i, s := range all {
		if s.Always || len(s.Kernels) < 2 {
			continue
		}
		k := int(crc32.ChecksumIEEE([]byte(s.ID)) >> 8 % uint32(len(s.Kernels)))
		all[i].Kernels = s.Kernels[k : k+1]
	}
	return all
}

// Scenarios lists what the suite runs, with the kernels it runs each on.
func (s *Suite) Scenarios() []Scenario { return slices.Clone(s.scenarios) }

// Run runs all scenarios on all their kernels and returns what came of it.
// The error is of the lab itself; how scenarios went is in the results.
func (s *Suite) Run(ctx context.Context) (Results, error) {
	results := make([]Results, len(s.opts.Kernels))
	errs := make([]error, len(s.opts.Kernels))
	var wait sync.WaitGroup
	for i, series := range s.opts.Kernels {
		wait.Go(func() { results[i], errs[i] = s.runKernel(ctx, series) })
	}
	wait.Wait()
	var all Results
	for _, r := range results {
		all.add(r)
	}
	return all, errors.Join(errs...)
}

// runKernel runs the scenarios of one kernel one after the other.
func (s *Suite) runKernel(ctx context.Context, series string) (Results, error) {
	rig := &rig{suite: s, series: series}
	defer rig.close()
	var results Results
	todo := slices.DeleteFunc(slices.Clone(s.scenarios), func(s Scenario) bool {
		return !slices.Contains(s.Kernels, series)
	})
	// Those of one topology in a row: each change boots guests.
	slices.SortStableFunc(todo, func(a, b Scenario) int {
		return len(a.Hosts()) - len(b.Hosts())
	})
	for _, sc := range todo {
		start := time.Now()
		out, err := s.attempt(ctx, rig, sc)
		if err == nil && out.Broken && ctx.Err() == nil {
			// No verdict on the doctor was reached: a step of the scenario's own
			// failed, as tools do on a loaded machine. A verdict is never asked twice.
			s.say("%s\n      once more, since the doctor was not judged", out)
			results.Repeated++
			out, err = s.attempt(ctx, rig, sc)
		}
		if err != nil {
			return results, fmt.Errorf("kernel %s: %w", series, err)
		}
		out.Seconds = time.Since(start).Seconds()
		results.Outcomes = append(results.Outcomes, out)
		s.say("%s", out)
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
	}
	results.Boots, results.Reboots = rig.boots, rig.reboots
	return results, nil
}

// attempt brings the guests back to their state at boot and runs a scenario.
func (s *Suite) attempt(ctx context.Context, rig *rig, sc Scenario) (Outcome, error) {
	guests, err := rig.ready(ctx, sc)
	if err != nil {
		return Outcome{}, err
	}
	f := &flow{s: sc, suite: s, series: rig.series, guests: guests, fabric: rig.fabric}
	return f.run(ctx), nil
}

func (s *Suite) say(format string, args ...any) {
	s.log.Lock()
	defer s.log.Unlock()
	fmt.Fprintf(s.opts.Log, format+"\n", args...)
}

// load loads a module, "name param=value" each, into a guest, and returns the
// shell command that does it. Modules of the lab itself are not in the
// guest's /lib/modules, and their place in the lab's cache need not be visible
// there (a guest has a /tmp of its own), so that they are put into the guest.
func (s *Suite) load(ctx context.Context, g *lab.Guest, series, module string) (string, error) {
	name, params, _ := strings.Cut(module, " ")
	own := slices.ContainsFunc(kmod.Modules(), func(m kmod.Module) bool {
		return m.Name == name
	})
	if !own {
		return "modprobe " + module, nil
	}
	ko, needs, err := s.build(ctx, series, name)
	if err != nil {
		return "", err
	}
	file := "/run/" + name + ".ko"
	if err := g.Put(ctx, file, 0o644, ko); err != nil {
		return "", err
	}
	script := "insmod " + file + " " + params
	if needs != "" {
		script = "modprobe -a " + needs + "\n" + script
	}
	return script, nil
}

// build returns a module of the lab's own and the names of those it needs.
func (s *Suite) build(ctx context.Context, series, name string) (ko []byte, needs string, err error) {
	cache, err := kernels.Cache()
	if err != nil {
		return nil, "", err
	}
	s.modules.Lock()
	defer s.modules.Unlock()
	files, err := kmod.Ensure(ctx, cache, s.kernels[series], name)
	if err != nil {
		return nil, "", err
	}
	list, err := tool.Run(ctx, "", "modinfo", "-F", "depends", files[name])
	if err != nil {
		return nil, "", err
	}
	ko, err = os.ReadFile(files[name])
	return ko, strings.ReplaceAll(strings.TrimSpace(list), ",", " "), err
}

// BuildDoctor builds rdmadoctor as make build does, with the verbs engine, as
// dir/rdmadoctor. A guest's root is the host's, so it has the C library it
// was built with.
func BuildDoctor(ctx context.Context, dir string) (string, error) {
	top, err := kernels.Repository()
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, filepath.Base(doctorPath))
	_, err = tool.Run(ctx, top, "env", "CGO_ENABLED=1", "go", "build", "-tags",
		"netgo,osusergo", "-trimpath", "-ldflags=-s -w", "-o", name, "./cmd/rdmadoctor")
	if err != nil {
		return "", fmt.Errorf("build doctor: %w", err)
	}
	return name, nil
}

// Repository opens what the product's own suite needs: the scenarios of the
// repository that the working directory is in, and the report's schema.
func Repository() (dir fs.FS, schema []byte, err error) {
	top, err := kernels.Repository()
	if err != nil {
		return nil, nil, err
	}
	schema, err = os.ReadFile(filepath.Join(top, "docs/schema/report.schema.json"))
	if err != nil {
		return nil, nil, fmt.Errorf("read schema: %w", err)
	}
	return os.DirFS(filepath.Join(top, "lab/scenarios")), schema, nil
}
