package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

func (p *program) explainCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain CODE",
		Short: "explain a finding: symptom, cause, fix, how to verify",
		Long: `Explain shows the page of a finding's code, or what a counter counts. For other
words, such as those of an error message, it lists the pages nearest to them and
exits 3. Without a code it lists all.`,
		Example: `  rdmadoctor explain pfc-off
  rdmadoctor explain memlock
  rdmadoctor explain out_of_buffer
  rdmadoctor explain "No IB devices found"`,
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
	} else if e.Counters = counterMeanings(word); e.Counters == nil {
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
	if e.Counters != nil {
		return counterText(e.Counters, width)
	}
	if e.Found && word != "" {
		return e.Pages[0].Text(width)
	}
	var b strings.Builder
	switch {
	case e.Found:
		fmt.Fprint(&b, "Every code, by layer from below; rdmadoctor explain CODE shows its page.\n"+
			"  - "+knowledge.NoCheck+"\n")
	case len(e.Pages) > 0:
		fmt.Fprintf(&b, "No page has the code %q. The nearest:\n", report.Clean(word))
	default:
		fmt.Fprintf(&b, "No page explains %q; rdmadoctor explain lists all.\n", report.Clean(word))
	}
	layer := checks.Layer(-1)
	for _, page := range e.Pages {
		if e.Found && page.Layer != layer {
			layer = page.Layer
			fmt.Fprintf(&b, "\n%s\n", layer)
		}
		mark := " "
		if e.Found && checks.Reporting(page.Code) == nil {
			mark = "-"
		}
		fmt.Fprintf(&b, "%s %-28s %s\n", mark, page.Code, page.Title)
	}
	return b.String()
}
