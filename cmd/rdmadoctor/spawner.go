package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/sandbox"
	"github.com/rdmadoctor/rdmadoctor/internal/spawner"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// spawnerCommand is the process that starts workers for one that speaks to the
// network. It runs nothing else, and what it starts can write to nothing but
// device nodes.
func (p *program) spawnerCommand() *cobra.Command {
	var libs verbs.Options
	c := &cobra.Command{
		Use:    spawner.Arg,
		Hidden: true,
		Args:   arguments(0, 0, ""),
		RunE: p.runs(func(context.Context, []string) error {
			// Workers are forked by this thread and inherit what holds for it.
			_ = hostio.OnLastingThread(func() error {
				sandbox.Restrict()
				return nil
			})
			return spawner.Serve(os.NewFile(3, "spawner"), worker.Exec{Argv: workerArgv(libs)})
		}),
	}
	addLibraries(c, &libs)
	return c
}
