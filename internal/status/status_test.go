package status

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTables: every status and event of verbs.h has its row, in order, and
// errors have causes.
func TestTables(t *testing.T) {
	for i, c := range Completions() {
		if c.Number != i || !strings.HasPrefix(c.Name, "IBV_WC_") || c.Text == "" {
			t.Errorf("row %d is %+v", i, c)
		}
		if c.Number != 0 && !c.Obsolete && len(c.Causes) == 0 {
			t.Errorf("%s has no cause", c.Name)
		}
	}
	if n := len(Completions()); n != 24 {
		t.Errorf("%d statuses, want 24", n)
	}
	for i, e := range statuses().Events {
		if e.Number != i || !strings.HasPrefix(e.Name, "IBV_EVENT_") || e.Means == "" {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	for step := range calls {
		c, ok := CallOf(step)
		if !ok || c.Call == "" || len(c.Errors) == 0 {
			t.Errorf("step %s has no call", step)
		}
		for _, e := range c.Errors {
			if syscall.Errno(e.Number).Error() == "" || len(Causes(step, e.Number)) == 0 && calls[step] != "modify_qp" {
				t.Errorf("%s %s (%d) has no cause", step, e.Name, e.Number)
			}
		}
	}
}

func TestOf(t *testing.T) {
	c, ok := Of(12)
	if !ok || c.Name != "IBV_WC_RETRY_EXC_ERR" || c.Text != "transport retry counter exceeded" {
		t.Errorf("12 is %+v", c)
	}
	if _, ok := Of(24); ok {
		t.Error("24 is no status")
	}
	if e, ok := EventOf("IBV_EVENT_QP_ACCESS_ERR"); !ok || e.Number != 3 {
		t.Errorf("event %+v", e)
	}
	if r, ok := Reject(8); !ok || !strings.Contains(r, "nobody listens") {
		t.Errorf("reject 8: %q", r)
	}
	if _, ok := Reject(34); ok {
		t.Error("34 is no reason")
	}
}

// TestVendorErr: a syndrome is looked up in its own provider only.
func TestVendorErr(t *testing.T) {
	for _, c := range []struct {
		provider string
		value    uint32
		status   int
		want     string
	}{
		{"mlx5", 0x81, 12, "transport retries used up"},
		{"mlx5", 0x81, 10, ""},
		{"rxe", 0x81, 12, ""},
		{"efa", 15, 20, "remote never answered"},
		{"irdma", 1<<16 | 1, 5, "no better reason"},
		{"irdma", 0x050f, 13, "too many RNRs"},
	} {
		s, ok := VendorErr(c.provider, c.value, c.status)
		if ok != (c.want != "") || !strings.Contains(s.Meaning, c.want) {
			t.Errorf("%s %#x with %d: %+v", c.provider, c.value, c.status, s)
		}
	}
}

// TestCausesByStep: the causes of one errno of ibv_modify_qp differ by the
// state that was wanted.
func TestCausesByStep(t *testing.T) {
	has := func(step string, errno syscall.Errno, text string) bool {
		for _, c := range Causes(step, int(errno)) {
			if strings.Contains(c.Cause, text) {
				return true
			}
		}
		return false
	}
	if !has("rtr", syscall.EINVAL, "is_global") || has("init", syscall.EINVAL, "is_global") {
		t.Error("a missing GRH is a cause of RTR only")
	}
	if !has("init", syscall.EINVAL, "pkey_index") || has("rtr", syscall.EINVAL, "pkey_index") {
		t.Error("a wrong pkey_index is a cause of INIT only")
	}
	if !has("reg-mr", syscall.ENOMEM, "RLIMIT_MEMLOCK") {
		t.Error("ENOMEM of ibv_reg_mr is memlock first")
	}
	if c := Causes("rtr", int(syscall.ETIMEDOUT)); len(c) == 0 || !strings.Contains(c[0].Cause, "MAC") {
		t.Errorf("ETIMEDOUT at RTR: %+v", c)
	}
}

func TestTimers(t *testing.T) {
	if d := AckTimeout(14); d.Round(100*time.Microsecond) != 67100*time.Microsecond {
		t.Errorf("timeout 14 is %v", d)
	}
	if AckTimeout(0) != 0 || AckTimeout(99) != 0 {
		t.Error("0 waits for ever, 99 is no timeout")
	}
	if least, most := GiveUp(14, 7); least.Round(time.Millisecond) != 537*time.Millisecond || most != 4*least {
		t.Errorf("perftest gives up after %v to %v", least, most)
	}
	for timer, want := range map[int]time.Duration{0: 655360 * time.Microsecond, 1: 10 * time.Microsecond,
		12: 640 * time.Microsecond, 31: 491520 * time.Microsecond, 32: 0} {
		if d := RNRTimer(timer); d != want {
			t.Errorf("RNR timer %d is %v, want %v", timer, d, want)
		}
	}
}
