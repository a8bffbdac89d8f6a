package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/scenario"
)

// runScenarios runs scenarios and prints their table.
func runScenarios(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("lab run", flag.ContinueOnError)
	series := flags.String("kernel", "all", "kernel `series`, or all")
	only := flags.String("only", "", "`ids` of scenarios, separated by commas")
	doctor := flags.String("doctor", "", "`file` of the rdmadoctor to examine "+
		"with; built if empty")
	asJSON := flags.Bool("json", false, "print the outcomes as JSON, with the "+
		"doctor's reports")
	if err := flags.Parse(args); err != nil {
		return 0, errUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "lab run: unexpected %q\n", flags.Arg(0))
		return 0, errUsage
	}
	o, done, err := suiteOptions(ctx, *doctor)
	if err != nil {
		return 0, err
	}
	defer done()
	o.Log = os.Stderr
	if *series != "all" {
		o.Kernels = strings.Split(*series, ",")
	}
	if *only != "" {
		o.Only = strings.Split(*only, ",")
	}
	suite, err := scenario.New(ctx, o)
	if err != nil {
		return 0, err
	}
	results, runErr := suite.Run(ctx)
	if *asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(results); err != nil {
			return 0, err
		}
	} else {
		results.Table(os.Stdout)
	}
	if runErr == nil && len(results.Failed()) > 0 {
		return 1, nil
	}
	return 0, runErr
}

// suiteOptions are the repository's scenarios with a doctor, built if none is
// given. What was built is removed by done.
func suiteOptions(ctx context.Context, doctor string) (o scenario.Options,
	done func(), err error) {
	done = func() {}
	if o.Dir, o.Schema, err = scenario.Repository(); err != nil {
		return o, done, err
	}
	if o.Doctor = doctor; doctor != "" {
		return o, done, nil
	}
	tmp, err := os.MkdirTemp("", "rdmadoctor-build-")
	if err != nil {
		return o, done, err
	}
	done = func() { os.RemoveAll(tmp) }
	if o.Doctor, err = scenario.BuildDoctor(ctx, tmp); err != nil {
		done()
		return o, func() {}, err
	}
	return o, done, nil
}
