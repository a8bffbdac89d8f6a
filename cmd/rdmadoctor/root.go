package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const about = `rdmadoctor finds why RDMA (InfiniBand, RoCE, iWARP) is broken or slow on this
host, names the cause, and shows the evidence and the fix. It reads only and
changes nothing.

Without a command it opens the screen on a terminal and writes the text report
into a pipe.`

// judges marks the commands whose exit code is a verdict.
var judges = map[string]string{"exit": "verdict"}

// exitCodes ends the usage text of the commands that judge.
const exitCodes = `{{if eq (index .Annotations "exit") "verdict"}}
Exit codes:
  0    healthy
  1    warnings
  2    failures
  3    could not judge: no RDMA here, or nothing could be read
  64   wrong usage
  70   internal error
  130  interrupted, with a report of what was done
{{end}}`

// rootCommand builds the command tree anew for each run.
func (p *program) rootCommand() *cobra.Command {
	cobra.EnableCommandSorting = false
	var exam examFlags
	var format formatFlags
	root := &cobra.Command{
		Use:           "rdmadoctor",
		Short:         "find why RDMA is broken or slow on this host",
		Long:          about,
		Args:          unknownCommand,
		Annotations:   judges,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			if format.format == "" && !format.json && format.output == "" && p.fullScreen() {
				p.noColor = format.noColor
				return p.screenOf(ctx, &exam)
			}
			return p.examine(ctx, &exam, &format)
		}),
	}
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate(versionText)
	exam.add(root)
	format.add(root, formats)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.AddCommand(p.checkCommand(), p.probeCommand(), p.agentCommand(), p.explainCommand(), p.recordCommand(), p.anonymiseCommand(), p.showCommand(),
		p.compareCommand(), p.policyCommand(), p.versionCommand(), p.readHostCommand(), p.workerCommand(), p.spawnerCommand())
	root.SetHelpCommand(p.helpCommand())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80") + exitCodes)
	p.completionCommand(root)
	return root
}

// completionCommand is cobra's, except that a shell that it does not know is an
// error.
func (p *program) completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	c.Short = "write the completion script of a shell"
	var shells []string
	for _, s := range c.Commands() {
		shells = append(shells, s.Name())
		script := s.RunE
		s.RunE = func(c *cobra.Command, args []string) error {
			p.running = true // What fails from here on is the writing.
			return script(c, args)
		}
	}
	hint := "it knows " + strings.Join(shells, ", ")
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef(hint, "unknown shell %q", args[0])
		}
		return nil
	}
	c.RunE = func(*cobra.Command, []string) error { return usagef(hint, "completion needs the name of a shell") }
}

// versionText is what --version and the command write.
var versionText = "rdmadoctor " + version + "\n"

// runs marks that the command line was accepted: what fails from here on is no
// mistake in the words.
func (p *program) runs(f func(context.Context, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		p.running = true
		return f(c.Context(), args)
	}
}

func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "help about a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(c.Root(), strings.Join(args, " "))
			}
			return about.Help()
		},
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  arguments(0, 0, ""),
		RunE: p.runs(func(context.Context, []string) error {
			_, err := fmt.Fprint(p.out, versionText)
			return err
		}),
	}
}
