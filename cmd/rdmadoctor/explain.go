package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

func (p *program) explainCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain CODE",
		Short: "explain a finding: symptom, cause, fix, how to verify",
		Long: `Explain shows the page of a finding's code. It exits 0 where there is one and 3
where there is none, with the nearest. Without a code it lists all.`,
		Example: `  rdmadoctor explain pfc-off
  rdmadoctor explain memory lock`,
		Args: arguments(0, -1, ""),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var codes []string
			for _, page := range knowledge.Pages() {
				codes = append(codes, page.Code+"\t"+page.Title)
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: p.runs(func(_ context.Context, args []string) error { return p.explain(args, asJSON) }),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write the page as JSON")
	return c
}

func (p *program) explain(args []string, asJSON bool) error {
	word := strings.Join(args, " ")
	e := report.Explanation{SchemaVersion: report.SchemaVersion, Found: true}
	if page, ok := knowledge.Lookup(word); ok {
		e.Pages = []*knowledge.Page{page}
	} else if word == "" {
		e.Pages = knowledge.Pages()
	} else {
		e.Found, e.Pages = false, knowledge.Nearest(word)
		p.code = report.ExitUnknown
	}
	if asJSON {
		return e.JSON(p.out)
	}
	_, err := fmt.Fprint(p.out, explanationText(e, word, p.textWidth()))
	return err
}

func explanationText(e report.Explanation, word string, width int) string {
	if e.Found && word != "" {
		return e.Pages[0].Text(width)
	}
	var b strings.Builder
	if !e.Found {
		fmt.Fprintf(&b, "No page explains %q.\n", report.Clean(word))
	}
	if !e.Found && len(e.Pages) > 0 {
		fmt.Fprint(&b, "The nearest:\n")
	}
	for _, page := range e.Pages {
		fmt.Fprintf(&b, "  %-28s %s\n", page.Code, page.Title)
	}
	return b.String()
}
