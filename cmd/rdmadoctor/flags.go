package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/near"
)

// formatFlags choose the front end.
type formatFlags struct {
	json    bool
	format  string
	output  string // file, "" is standard output
	noColor bool
}

func (f *formatFlags) add(c *cobra.Command, words []string) {
	c.Flags().BoolVar(&f.json, "json", false, "write one JSON document, the same as --format json")
	c.Flags().StringVar(&f.format, "format", "", "write the report as `FORMAT`: "+strings.Join(words, ", "))
	c.Flags().StringVarP(&f.output, "output", "o", "", "write the report to `FILE`, whole or not at all (- is standard output)")
	c.Flags().BoolVar(&f.noColor, "no-color", false, "no colours on a terminal; NO_COLOR does the same")
	complete(c, "format", words)
}

// choose is the format asked for, or other.
func (f *formatFlags) choose(words []string, other string) (string, error) {
	switch {
	case f.json && f.format != "" && f.format != "json":
		return "", usagef("leave one of them out", "--json and --format %s contradict each other", f.format)
	case f.json:
		return "json", nil
	case f.format == "":
		return other, nil
	case !slices.Contains(words, f.format):
		return "", usagef("--format takes "+strings.Join(words, ", "), "unknown format %q", f.format)
	}
	return f.format, nil
}

// machineFormat is the format for machines that a command line asks for, ""
// for none. It looks at the words only, since it is for command lines that
// could not be parsed.
func machineFormat(args []string) string {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for i, a := range args {
		name, value, has := strings.Cut(a, "=")
		switch {
		case name == "--json":
			if yes, err := strconv.ParseBool(value); !has || err != nil || yes {
				return "json" // A value that is none still asked for it.
			}
		case name == "--format" && !has && i+1 < len(args):
			value = args[i+1]
			fallthrough
		case name == "--format":
			if slices.Contains(machineFormats, value) {
				return value
			}
		}
	}
	return ""
}

// examFlags say what to examine and how.
type examFlags struct {
	from              string
	record            string // of check only
	device            string
	port              int
	only, skip        []string
	failOn            string
	timeout, interval time.Duration
	snapshot          bool
	gate, watch       bool
	since             string
	baseline, policy  string
}

// defaultTimeout bounds a run besides its interval. A healthy host takes about
// a second; a script that waits for us should not wait much longer.
const defaultTimeout = 30 * time.Second

func (f *examFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.from, "from", "", "examine a recording, a report with a snapshot or a copied /sys tree at `PATH` (- is stdin)")
	f.addCommon(c)
}

// addCommon adds the flags of every examination, be it of this host or not.
func (f *examFlags) addCommon(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.device, "device", "", "judge only this RDMA `DEVICE`, or one port of it (mlx5_0/1)")
	fs.IntVar(&f.port, "port", 0, "judge only this `PORT` of --device")
	fs.StringSliceVar(&f.only, "only", nil, "run only these `CODES`, checks or layers")
	fs.StringSliceVar(&f.skip, "skip", nil, "leave out these `CODES`, checks or layers")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the run after this `TIME` (default 30s and the interval)")
	fs.DurationVar(&f.interval, "interval", time.Second, "`TIME` between the two samples of the counters; 0s takes one sample")
	fs.BoolVar(&f.snapshot, "snapshot", false, "put all facts into the report")
	fs.StringVar(&f.baseline, "baseline", "", "also say what changed since the recording or report in `FILE`, when this host was good")
	fs.StringVar(&f.policy, "policy", "", "also judge by the policy in `FILE`, which says what hosts here look like")
	f.addFailOn(c)
	complete(c, "only", doctor.Names())
	complete(c, "skip", doctor.Names())
}

func (f *examFlags) addFailOn(c *cobra.Command) {
	c.Flags().StringVar(&f.failOn, "fail-on", "warn", "the mildest finding that is a non-zero exit: `warn|fail`")
	complete(c, "fail-on", []string{"warn", "fail"})
}

func complete(c *cobra.Command, flag string, words []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // The flag is not there: a fault of the caller.
	}
}

// check completes the flags or says what is wrong with them.
func (f *examFlags) check() error {
	if device, port, ok := strings.Cut(f.device, "/"); ok {
		n, err := strconv.Atoi(port)
		if err != nil || f.port != 0 && f.port != n {
			return usagef("a port is written mlx5_0/1, or --device mlx5_0 --port 1", "--device %q: no port %q", f.device, port)
		}
		f.device, f.port = device, n
		if n == 0 {
			return usagef("ports are counted from 1", "--device: port 0 is no port")
		}
	}
	switch {
	case f.record == "-":
		return usagef("give it a file name; rdmadoctor record -o - writes a recording alone", "--record -: the report goes to standard output")
	case f.record != "" && f.from != "":
		return usagef("it is for an examination of this host", "--record and --from contradict each other")
	case f.baseline == "-" && f.from == "-":
		return usagef("give one of them a file", "--from and --baseline cannot both be standard input")
	case f.port < 0:
		return usagef("ports are counted from 1", "--port %d is no port", f.port)
	case f.port > 0 && f.device == "":
		return usagef("add --device, rdma link lists the names", "--port needs --device")
	case f.interval < 0:
		return usagef("0s takes one sample", "--interval %v is negative", f.interval)
	case f.timeout < 0:
		return negativeTimeout(f.timeout)
	case f.timeout == 0:
		f.timeout = f.limit()
	}
	if err := f.checkFailOn(); err != nil {
		return err
	}
	_, err := doctor.Select(f.only, f.skip)
	var unknown *doctor.NameError
	if errors.As(err, &unknown) {
		hint := "rdmadoctor explain lists the codes; layers are " + strings.Join(layerNames(), ", ")
		if len(unknown.Near) > 0 {
			hint = "perhaps " + strings.Join(unknown.Near, " or ")
		}
		return &usageError{err, hint}
	}
	return err
}

// limit is how long the run may take.
func (f *examFlags) limit() time.Duration {
	if f.timeout > 0 {
		return f.timeout
	}
	return defaultTimeout + max(f.interval, 0)
}

const timeHint = "a time is written 500ms, 10s, 2m"

func negativeTimeout(d time.Duration) error {
	return usagef(timeHint, "--timeout %v is negative", d)
}

func (f *examFlags) checkFailOn() error {
	if f.failOn != "warn" && f.failOn != "fail" {
		return usagef("--fail-on takes warn or fail", "unknown severity %q", f.failOn)
	}
	return nil
}

func layerNames() []string {
	var names []string
	for _, l := range checks.Layers() {
		names = append(names, l.String())
	}
	return names
}

// flagError turns what the flag parser says into a usage error with a hint.
func flagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " --help lists the flags"
	var missing *pflag.NotExistError
	var value *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		if alike := near.Words(missing.GetSpecifiedName(), known); len(alike) > 0 {
			hint = "perhaps --" + strings.Join(alike, " or --")
		}
	case errors.As(err, &wrong) && wrong.GetFlag().Value.Type() == "duration":
		return usagef(timeHint, "--%s %q is no time", wrong.GetFlag().Name, wrong.GetValue())
	case errors.As(err, &value):
		hint = "write --" + value.GetSpecifiedName() + " " + strings.ToUpper(valueName(value.GetFlag()))
	}
	return &usageError{err, hint}
}

func valueName(f *pflag.Flag) string {
	if f == nil {
		return "value"
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// arguments checks how many arguments a command got.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("write "+c.UseLine(), "%s needs %s", c.CommandPath(), what)
		case most >= 0 && len(args) > most:
			return usagef("write "+c.UseLine(), "%s does not take %q", c.CommandPath(), args[most])
		}
		return nil
	}
}

// unknownCommand is for the words behind the program's name.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return noCommand(c, args[0])
}

func noCommand(c *cobra.Command, word string) error {
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	hint := "rdmadoctor --help lists the commands"
	if alike := near.Words(word, known); len(alike) > 0 {
		hint = "perhaps " + strings.Join(alike, " or ")
	}
	return &usageError{fmt.Errorf("unknown command %q", word), hint}
}
