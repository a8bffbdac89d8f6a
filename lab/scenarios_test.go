package lab_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/scenario"
)

// onlyEnv names an environment variable that keeps a run short while one
// works on a few scenarios: ids separated by commas.
const onlyEnv = "RDMADOCTOR_LAB_ONLY"

// allEnv names an environment variable that, when it is set, runs every
// scenario on both kernels; else most run on one.
const allEnv = "RDMADOCTOR_LAB_ALL"

// TestScenarios runs rdmadoctor against every scenario.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("boots guests, left out with -short")
	}
	for _, series := range kernels.Series() {
		if _, err := lab.Ready(t.Context(), series); err != nil {
			if lab.Required() {
				t.Fatalf("%s=lab, and the lab cannot run: %v", lab.RequireEnv, err)
			}
			t.Skipf("the lab cannot run here: %v", err)
		}
	}
	doctor, err := scenario.BuildDoctor(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, schema, err := scenario.Repository()
	if err != nil {
		t.Fatal(err)
	}
	o := scenario.Options{Dir: dir, Schema: schema, Doctor: doctor, Log: t.Output(),
		Spread: os.Getenv(allEnv) == ""}
	if only := os.Getenv(onlyEnv); only != "" {
		o.Only, o.Spread = strings.Split(only, ","), false
	}
	suite, err := scenario.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	results.Table(t.Output())
	for _, s := range suite.Scenarios() {
		for _, series := range s.Kernels {
			t.Run(s.ID+"/"+series, func(t *testing.T) {
				i := slices.IndexFunc(results.Outcomes, func(o scenario.Outcome) bool {
					return o.Scenario == s.ID && o.Kernel == series
				})
				if i < 0 {
					t.Fatal("has not been run")
				}
				for _, problem := range results.Outcomes[i].Problems {
					t.Error(problem)
				}
			})
		}
	}
}
