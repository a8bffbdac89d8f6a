package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
	"github.com/rdmadoctor/rdmadoctor/probes"
)

// workerCommand is the process of probes, which a library or the kernel may
// end or hold. It speaks to its parent only. The libraries are arguments, so
// that no task, which may come from another host, can name one.
func (p *program) workerCommand() *cobra.Command {
	var libs verbs.Options
	c := &cobra.Command{
		Use:    worker.Arg,
		Hidden: true,
		Args:   arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			worker.Confine()
			in, out := worker.Files()
			return worker.Serve(ctx, in, out, func(ctx context.Context, t worker.Task, r *worker.Reporter) error {
				return probes.Run(ctx, libs, t.Probe, t.Params, r)
			})
		}),
	}
	addLibraries(c, &libs)
	return c
}

// addLibraries adds the flags that name other libraries than the system's.
func addLibraries(c *cobra.Command, libs *verbs.Options) {
	c.Flags().StringVar(&libs.Verbs, "libibverbs", "", "open the library at `PATH`")
	c.Flags().StringVar(&libs.RDMACM, "librdmacm", "", "open the library at `PATH`")
	_ = c.Flags().MarkHidden("libibverbs")
	_ = c.Flags().MarkHidden("librdmacm")
}

// workerArgv starts a worker that opens these libraries.
func workerArgv(libs verbs.Options) []string {
	argv := []string{hostio.OwnBinary(), worker.Arg}
	if libs.Verbs != "" {
		argv = append(argv, "--libibverbs="+libs.Verbs)
	}
	if libs.RDMACM != "" {
		argv = append(argv, "--librdmacm="+libs.RDMACM)
	}
	return argv
}
