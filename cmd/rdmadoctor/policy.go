package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/policy"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

func (p *program) policyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "make or check a policy: what hosts here look like",
		Long: `A policy is a small YAML file that says what hosts of this site look like:
devices, rates, MTU, PFC, DSCP map, ECN, firmware, limits, and the ports that
may be dark. check --policy FILE turns what differs into findings.`,
		Args: unknownWord,
		RunE: func(*cobra.Command, []string) error {
			return usagef("it knows init and check", "policy needs a command")
		},
	}
	c.AddCommand(p.policyInitCommand(), p.policyCheckCommand())
	return c
}

func unknownWord(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("it knows init and check", "unknown command %q of policy", args[0])
	}
	return nil
}

func (p *program) policyInitCommand() *cobra.Command {
	var from, file string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "init",
		Short: "write the policy that a good host fulfils",
		Example: `  rdmadoctor policy init -o policy.yaml
  rdmadoctor policy init --from gpu-017.tar.gz -o policy.yaml`,
		Args: arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			if timeout <= 0 {
				return usagef("a time is written 500ms, 10s, 2m", "--timeout %v is no time", timeout)
			}
			ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("the time of the run was over"))
			defer cancel()
			return p.policyInit(ctx, from, file)
		}),
	}
	c.Flags().StringVar(&from, "from", "", "make it of a recording, a report with a snapshot or a copied /sys tree at `PATH` (- is stdin)")
	c.Flags().StringVarP(&file, "output", "o", "-", "write it to `FILE` (- is standard output)")
	c.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "end the run after this `TIME`")
	return c
}

func (p *program) policyInit(ctx context.Context, from, file string) error {
	src, err := p.source(from)
	if err != nil {
		return err
	}
	defer src.close()
	snap := src.once(ctx)
	if len(snap.Devices) == 0 {
		p.complain(&report.Error{Message: "make policy: no RDMA device is on this host", Hint: "a policy is made of a host that is good"})
		p.code = report.ExitUnknown
		return nil
	}
	name := snap.Host.Hostname
	if name == "" {
		name = filepath.Base(src.label)
	}
	text := policy.From(snap).YAML(name)
	if _, err := policy.Parse([]byte(text)); err != nil {
		return fmt.Errorf("make policy: %w", err)
	}
	if file == "-" {
		_, err = io.WriteString(p.out, text)
		return err
	}
	out, err := p.newFile(file)
	if err != nil {
		return err
	}
	defer out.discard()
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	if err := out.keep(); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "wrote %s; examine hosts with rdmadoctor check --policy %s\n", report.Clean(file), report.Clean(file))
	return err
}

func (p *program) policyCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "check a policy file, with line numbers in what is wrong",
		Long: `Check reads a policy file and says what is wrong with it, line by line. It exits
0 when the file can be used and 64 when not. It looks at no host: that is
rdmadoctor check --policy FILE.`,
		Example: `  rdmadoctor policy check policy.yaml
  rdmadoctor policy check --json policy.yaml`,
		Args: arguments(1, 1, "a policy file"),
		RunE: p.runs(func(_ context.Context, args []string) error {
			if asJSON {
				return p.policyCheck(args[0])
			}
			pol, err := p.policy(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s: a policy of version %d, %s\n", report.Clean(args[0]), pol.Version, pol.Summary())
			return err
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON (docs/schema/policy-check.schema.json)")
	return c
}

// policyCheck writes as JSON what is wrong with a policy file.
func (p *program) policyCheck(file string) error {
	c := report.PolicyCheck{SchemaVersion: report.SchemaVersion, File: file}
	pol, err := readPolicy(file)
	var mistakes policy.Errors
	var unusable *usageError
	switch {
	case err == nil:
		c.Valid, c.PolicyVersion, c.Demands = true, pol.Version, pol.Summary()
	case errors.As(err, &mistakes):
		p.code = report.ExitUsage
		for _, m := range mistakes {
			c.Mistakes = append(c.Mistakes, report.PolicyMistake{Line: m.Line, Message: m.Message})
		}
	case errors.As(err, &unusable):
		p.code = report.ExitUsage
		c.Error = &report.Error{Kind: report.UsageError, Message: unusable.Error(), Hint: unusable.hint}
		p.complain(c.Error)
	default:
		return err
	}
	return c.JSON(p.out)
}
