package collect

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A listener is a host that keeps the ops that pass it.
type listener struct {
	hostio.Host
	ops []hostio.Op
}

func (l *listener) Do(ctx context.Context, ops []hostio.Op) []hostio.Result {
	l.ops = append(l.ops, ops...)
	return l.Host.Do(ctx, ops)
}

// forbidden is written down again here, apart from the rule that hostio has:
// what judgement says may never be touched.
var forbidden = regexp.MustCompile(`/(vpd|rom|resource[0-9_a-z]*|kmsg|trace_pipe)$|^/sys/kernel/debug(/|$)`)

// TestOpsAreAllowed runs all collectors on all hosts that the tests have, and on
// this one, and looks at every read that they ask for.
func TestOpsAreAllowed(t *testing.T) {
	hosts := map[string]hostio.Host{"this host": &hostio.Live{}}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		name = strings.TrimSuffix(filepath.Base(name), ".txtar")
		hosts[name] = constructed(t, name)
	}
	replies := ethtoolReplies(t)
	for op, text := range rdmaReplies(t) {
		if _, ok := replies[op]; !ok {
			replies[op] = text
		}
	}
	hosts["netlink replies"] = answers(replies)
	kinds := map[hostio.Kind]int{}
	for name, host := range hosts {
		l := &listener{Host: host}
		Run(t.Context(), l, Options{Origin: facts.Live})
		request := map[string]string{}
		for _, op := range l.ops {
			kinds[op.Kind]++
			if !hostio.Allowed(op) {
				t.Errorf("%s: %s is not allowed", name, op.Key())
			}
			switch op.Kind {
			case hostio.ReadFile, hostio.ReadDir, hostio.ReadLink:
				if forbidden.MatchString(op.Name) || strings.HasPrefix(op.Name, "/dev/") && op.Kind != hostio.ReadDir {
					t.Errorf("%s: %s is never read", name, op.Key())
				}
			case hostio.TryOpen:
				if strings.Contains(op.Name, "umad") || strings.Contains(op.Name, "issm") {
					t.Errorf("%s: %s is opened", name, op.Name)
				}
			case hostio.Netlink:
				// A recording keeps one reply by name: the name has to tell requests apart.
				if had, ok := request[op.Name]; ok && had != string(op.Request) {
					t.Errorf("%s: two requests are called %s", name, op.Name)
				}
				request[op.Name] = string(op.Request)
			}
		}
		if len(l.ops) == 0 {
			t.Errorf("%s: no reads", name)
		}
	}
	for _, kind := range []hostio.Kind{hostio.ReadFile, hostio.ReadDir, hostio.Netlink, hostio.EthtoolStats, hostio.EthtoolDriver, hostio.EthtoolPause} {
		if kinds[kind] == 0 {
			t.Errorf("no op of kind %s was seen: the test looks at too little", kind)
		}
	}
}

// Collectors reach a host through hostio only.
func TestCollectorsDoNoIO(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile(`\b(os\.(Open|ReadFile|ReadDir|Stat|Lstat|Readlink|Create)|net\.(Dial|Interface|Lookup)|unix\.(Open|Socket|Ioctl)|exec\.|ethtool\.New|rtnl\.(Link|Addr|Route|Rule|Neigh|Qdisc|Rdma)[A-Za-z]*\()`)
	looked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		looked++
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := outside.FindString(string(b)); found != "" {
			t.Errorf("%s uses %s", name, found)
		}
	}
	if looked < 10 {
		t.Errorf("only %d files", looked)
	}
}
