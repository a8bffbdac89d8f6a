package knowledge

import (
	"cmp"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// compare orders diagnoses so that the first one is the answer. Each rule
// decides only where those before it are equal.
func compare(a, b Diagnosis) int {
	return cmp.Or(
		// Information never stands before something to mend, however low its layer.
		cmp.Compare(informs(a), informs(b)),
		// What stops work is mended before what slows it.
		cmp.Compare(impactRank(a.Impact), impactRank(b.Impact)),
		// A proved cause is acted on before a suspicion is looked into.
		cmp.Compare(confidenceRank(a.Confidence), confidenceRank(b.Confidence)),
		// The check knows this host, so a failure stands before a warning.
		cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)),
		// The lower layer carries the upper one: mending it may mend both.
		cmp.Compare(a.Layer, b.Layer),
		// From here on there is no better or worse, only an order that stays.
		cmp.Compare(a.Code, b.Code),
		naturally(a.Subject, b.Subject),
	)
}

func informs(d Diagnosis) int {
	if d.Severity == checks.Info {
		return 1
	}
	return 0
}

func severityRank(s checks.Severity) int {
	return rankIn([]checks.Severity{checks.Fail, checks.Warn, checks.Info}, s)
}

func impactRank(i Impact) int { return rankIn(impacts, i) }

func confidenceRank(c checks.Confidence) int { return rankIn(confidences, c) }

var (
	impacts     = []Impact{Down, Degraded, AtRisk, None}
	confidences = []checks.Confidence{checks.Proved, checks.Likely, checks.Possible}
)

// rankIn is the place of v in order; what is not listed comes last.
func rankIn[T comparable](order []T, v T) int {
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}

// naturally compares names so that mlx5_2 stands before mlx5_10.
func naturally(a, b string) int {
	for a != "" && b != "" {
		x, restA := chunk(a)
		y, restB := chunk(b)
		if c := compareChunks(x, y); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

func compareChunks(x, y string) int {
	if digit(x[0]) && digit(y[0]) {
		x, y = trimZeros(x), trimZeros(y)
		if c := cmp.Compare(len(x), len(y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(x, y)
}

// chunk cuts off the leading run of digits or of other bytes.
func chunk(s string) (string, string) {
	n := 1
	for n < len(s) && digit(s[n]) == digit(s[0]) {
		n++
	}
	return s[:n], s[n:]
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}
