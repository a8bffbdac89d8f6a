//go:build cgo && linux && !noverbs

package probes

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

// broken is where a ladder broke.
func broken(l facts.Ladder) (facts.ProbeStep, bool) {
	for _, s := range l.Steps {
		if s.Error != nil {
			return s, true
		}
	}
	return facts.ProbeStep{}, false
}

// cures are the variations that worked.
func cures(l facts.Ladder) []string {
	var cs []string
	for _, v := range l.Varied {
		if v.Error == nil {
			cs = append(cs, v.Step+" "+v.Attribute+" "+v.From+"->"+v.To)
		}
	}
	return cs
}

func TestWhereItBreaks(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		change       func(*LadderParams)
		step, errno  string
		cures        []string
	}{
		{"open denied", "fail open_device EACCES", nil, "open", "EACCES", nil},
		{"query device", "fail query_device EIO", nil, "query-device", "EIO", nil},
		{"no PD", "fail alloc_pd ENOMEM", nil, "alloc-pd", "ENOMEM", nil},
		{"no channel", "fail create_comp_channel EMFILE", nil, "create-comp-channel", "EMFILE", nil},
		{"no CQ", "fail create_cq EAGAIN", nil, "create-cq", "EAGAIN", nil},
		{"memlock 0", "limit-mr 1", nil, "reg-mr", "ENOMEM", nil},
		{"one page alone", "limit-mr 4096", nil, "reg-mr", "ENOMEM", []string{"reg-mr length 8192->4096"}},
		{"QP limit", "limit-qp 1", nil, "create-qp", "ENOMEM", []string{"create-qp max_send_wr 16->1", "create-qp qp_type RC->UD"}},
		{"wrong pkey", "refuse-pkey 5\npkey 65535", func(p *LadderParams) { p.PkeyIndex = 5 }, "init", "EINVAL", []string{"init pkey_index 5->0"}},
		{"empty GID slot", "refuse-gid 7", func(p *LadderParams) { p.GIDIndex = 7 }, "rtr", "EINVAL", []string{"rtr sgid_index 7->1"}},
		{"path MTU", "refuse-mtu 2048", func(p *LadderParams) { p.PathMTU = 4096 }, "rtr", "EINVAL", []string{"rtr path_mtu 4096->1024"}},
		{"RTS", "fail modify_rts EINVAL", nil, "rts", "EINVAL", nil},
		{"silence", "lie status 12\nvendor-err 129", nil, "write", "", nil},
		{"wrong data", "lie data", nil, "write", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.change == nil {
				tc.change = func(*LadderParams) {}
			}
			got := climb(t, tc.script, tc.change)
			s, ok := broken(got.ladders[1])
			if !ok || s.Name != tc.step || s.Error.Name != tc.errno || s.Error.Text == "" {
				t.Fatalf("broke at %+v, want %s with %q", s, tc.step, tc.errno)
			}
			if c := cures(got.ladders[1]); !slices.Equal(c, tc.cures) && tc.step != "rts" {
				t.Errorf("works with %v, want %v", c, tc.cures)
			}
			if len(got.ladders) != 1 {
				t.Errorf("%d ladders after one that broke", len(got.ladders))
			}
			if e := got.ladders[1].End.Outcome; e != facts.Completed {
				t.Errorf("outcome %s", e)
			}
		})
	}
}

func TestWhatMustBeRefusedIsAllowed(t *testing.T) {
	for script, want := range map[string][]string{
		"allow wrong-rkey": {"wrong-rkey write", "wrong-rkey read", "stale-rkey write", "stale-rkey read"}, // No key is looked at.
		"allow stale-rkey": {"stale-rkey write", "stale-rkey read"},
		"allow range":      {"out-of-range write", "out-of-range read"},
		"allow permission": {"no-remote-write write", "no-remote-read read", "no-remote-atomic fetch-add"},
		"allow rnr":        {"no-receive send"},
	} {
		l := climb(t, script+"\natomic-cap 1").ladders[1]
		var allowed []string
		for _, s := range l.Refused {
			if s.Error == nil {
				allowed = append(allowed, s.Name+" "+s.Op)
			}
		}
		if !slices.Equal(allowed, want) {
			t.Errorf("%s: allowed %v, want %v", script, allowed, want)
		}
		if wrote := strings.Contains(strings.Join(want, ","), "write"); l.Canary != facts.Some(wrote) {
			t.Errorf("%s: memory changed %v, want %v", script, l.Canary, wrote)
		}
	}
}

func TestCeilingIsFound(t *testing.T) {
	l := climb(t, "limit-mr 300000").ladders[1]
	best, least := 0, 1<<30
	for _, r := range l.Regions {
		switch {
		case r.Error == nil:
			best = max(best, r.Bytes)
		default:
			least = min(least, r.Bytes)
			if r.Error.Name != "ENOMEM" || r.Error.Call != "ibv_reg_mr" {
				t.Errorf("refused with %+v", r.Error)
			}
		}
	}
	if best > 300000 || least <= 300000 || least-best > 3*4096 {
		t.Errorf("ceiling between %d and %d, it is 300000", best, least)
	}
	if _, bad := broken(l); bad {
		t.Errorf("a ceiling ends no ladder: %+v", l.Steps)
	}
}

func TestQuietLadder(t *testing.T) {
	l := climb(t, "", func(p *LadderParams) { p.Refusals, p.MRMax, p.Messages = false, 0, 0 }).ladders[1]
	if len(l.Refused) != 0 || l.Canary.Known() || len(l.Regions) != 0 || len(l.Skipped) < 2 {
		t.Errorf("refused %v, regions %v, skipped %v", l.Refused, l.Regions, l.Skipped)
	}
}

func TestPortThatIsDown(t *testing.T) {
	l := climb(t, "port-state 1").ladders[1]
	if n := names(l.Steps); n[len(n)-1] != "reg-mr-unaligned" || len(l.Skipped) != 1 || !strings.Contains(l.Skipped[0].Why, "DOWN") {
		t.Errorf("steps %v, skipped %v", n, l.Skipped)
	}
}

func TestInfiniBand(t *testing.T) {
	got := climb(t, "link infiniband\nlid 7", func(p *LadderParams) { p.Transport, p.GIDIndex = "InfiniBand", 0 })
	l := got.ladders[1]
	if s, bad := broken(l); bad {
		t.Fatalf("broke at %s: %v", s.Name, s.Error)
	}
	if l.Path.DLID != facts.Some(7) || l.Path.SGIDIndex.Known() {
		t.Errorf("path %+v", l.Path)
	}
}

func TestEventsAreTold(t *testing.T) {
	l := climb(t, "event 10 1").ladders[1]
	if len(l.Events) == 0 || l.Events[0].Name != "IBV_EVENT_PORT_ERR" || l.Events[0].Subject != "fake0/1" {
		t.Errorf("events %+v", l.Events)
	}
}

func TestNoLibrary(t *testing.T) {
	err := Run(t.Context(), verbs.Options{Verbs: "/none/libibverbs.so.1"}, LadderProbe, nil, &told{})
	u, ok := err.(interface{ Unavailable() bool })
	if !ok || !u.Unavailable() || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("error %v", err)
	}
}

func TestUnknownTask(t *testing.T) {
	if err := Run(t.Context(), verbs.Options{}, "shell", nil, &told{}); err == nil {
		t.Error("it was run")
	}
	lib := verbs.Options{Verbs: fakeverbs.Build(t, "")}
	for _, params := range []string{"", "{", `{"exec":"sh"}`, `{}{}`, `[]`} {
		if err := Run(t.Context(), lib, LadderProbe, json.RawMessage(params), &told{}); err == nil {
			t.Errorf("parameters %q were taken", params)
		}
	}
}
