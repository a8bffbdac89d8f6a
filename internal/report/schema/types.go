package main

import (
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/policy"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// enums are the string types that hold one of a few words.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[checks.Layer]():     layers(),
	reflect.TypeFor[checks.Status]():    {checks.Passed, checks.Warned, checks.Failed, checks.Skipped, checks.Unknown},
	reflect.TypeFor[checks.Severity]():  {checks.Info, checks.Warn, checks.Fail},
	reflect.TypeFor[knowledge.Impact](): {knowledge.Down, knowledge.Degraded, knowledge.AtRisk, knowledge.None},
	reflect.TypeFor[checks.Confidence](): {checks.Proved, checks.Likely,
		checks.Possible},
	reflect.TypeFor[knowledge.Place]():    anys(knowledge.Places),
	reflect.TypeFor[knowledge.Disrupts](): anys(knowledge.Disruptions),
	reflect.TypeFor[facts.GapKind](): {facts.Absent, facts.Denied, facts.Unsupported, facts.Malformed,
		facts.Timeout},
	reflect.TypeFor[report.ErrorKind](): {report.UsageError, report.TimeoutError, report.InternalError,
		report.InterruptedError},
	reflect.TypeFor[report.EventKind](): {report.CounterEvent, report.LinkEvent, report.LogEvent, report.FactEvent,
		report.FindingEvent, report.HostEvent},
	reflect.TypeFor[report.Advice](): {report.Drain, report.Keep, report.NotRDMA, report.NoIdea},
}

func layers() []any {
	var names []any
	for _, l := range checks.Layers() {
		names = append(names, l.String())
	}
	return names
}

func anys[T any](list []T) []any {
	var as []any
	for _, v := range list {
		as = append(as, v)
	}
	return as
}

// reflectAll is v's schema, with each facts.Opt[T] as a T that may be absent.
// The library has no word for "the schema of this other type" in a mapper, so
// structs inside an Opt are referred to by name and defined afterwards.
func reflectAll(r *jsonschema.Reflector, v any) *jsonschema.Schema {
	var pending []reflect.Type
	r.Mapper = func(t reflect.Type) *jsonschema.Schema {
		inner, isOpt := optOf(t)
		if !isOpt {
			inner = t
		}
		if words, ok := enums[inner]; ok {
			return &jsonschema.Schema{Type: "string", Enum: words}
		}
		switch {
		case inner == reflect.TypeFor[policy.Bytes]():
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer", Minimum: "0"}, {Type: "string", Enum: []any{"unlimited"}}}}
		case !isOpt:
			return nil
		case inner.Kind() == reflect.Struct:
			pending = append(pending, inner)
			return &jsonschema.Schema{Ref: "#/$defs/" + inner.Name()}
		}
		bare := *r
		bare.DoNotReference, bare.Mapper = true, nil
		s := bare.ReflectFromType(inner)
		s.Version, s.Definitions = "", nil
		return s
	}
	s := r.Reflect(v)
	for len(pending) > 0 {
		t := pending[0]
		pending = pending[1:]
		if _, done := s.Definitions[t.Name()]; done {
			continue
		}
		whole := *r
		whole.ExpandedStruct = false
		for name, def := range whole.ReflectFromType(t).Definitions {
			s.Definitions[name] = def
		}
	}
	return s
}

// optOf is the T of facts.Opt[T].
func optOf(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[facts.Snapshot]().PkgPath() ||
		!strings.HasPrefix(t.Name(), "Opt[") {
		return nil, false
	}
	f, ok := t.FieldByName("v")
	return f.Type, ok
}
