package status

import (
	_ "embed" // The causes are a table, not code.
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// Call is one call of verbs or rdma_cm and the errnos it gives.
type Call struct {
	Call   string                     `yaml:"call"` // "ibv_modify_qp"
	Rules  []string                   `yaml:"rules"`
	Errors []Errno                    `yaml:"errors"`
	Masks  map[string]map[string]Mask `yaml:"masks"` // by QP type and transition, of ibv_modify_qp
}

// Errno is one errno of a call and its causes, the likeliest first.
type Errno struct {
	Name   string  `yaml:"errno"` // "ENOMEM"
	Number int     `yaml:"number"`
	Note   string  `yaml:"note"`
	Causes []Cause `yaml:"causes"`
}

// Mask is which attributes a transition wants and takes (enum
// ibv_qp_attr_mask), in hexadecimal.
type Mask struct {
	Required string `yaml:"required"`
	Allowed  string `yaml:"allowed"`
}

type errnoTable struct {
	Steps      map[string]Call `yaml:"steps"`
	OftenWrong []Advice        `yaml:"often_wrong"`
}

// Advice is something that is often said and is not so.
type Advice struct {
	Claim string `yaml:"claim"`
	Truth string `yaml:"truth"`
}

//go:embed errnos.yaml
var errnosFile []byte

var errnos = sync.OnceValue(func() errnoTable {
	var t errnoTable
	if err := yaml.Unmarshal(errnosFile, &t); err != nil {
		panic("status: read errnos.yaml: " + err.Error()) // It is compiled in, and a test reads it.
	}
	return t
})

// calls is the table's call of each step of a ladder.
var calls = map[string]string{
	"open": "open_device", "alloc-pd": "alloc_pd", "create-comp-channel": "create_comp_channel",
	"create-cq": "create_cq", "reg-mr": "reg_mr", "reg-mr-unaligned": "reg_mr", "create-qp": "create_qp",
	"init": "modify_qp", "rtr": "modify_qp", "rts": "modify_qp",
	"write": "post_send", "read": "post_send", "send": "post_send", "recv": "post_send",
	"fetch-add": "post_send", "cmp-swap": "post_send",
	"listen": "rdma_bind_listen", "resolve-addr": "rdma_resolve_addr", "resolve-route": "rdma_resolve_route",
	"connect": "rdma_connect", "accept": "rdma_connect", "established": "rdma_connect",
}

// CallOf describes the call that a step of a ladder makes.
func CallOf(step string) (Call, bool) {
	c, ok := errnos().Steps[calls[step]]
	return c, ok
}

// transitions are the steps of ibv_modify_qp, whose causes begin with the
// state that they are about.
var transitions = []string{"INIT", "RTR", "RTS"}

// Causes are the causes of an errno at a step of a ladder, the likeliest
// first. Those that speak of another transition are left out.
func Causes(step string, errno int) []Cause {
	var out []Cause
	c, _ := CallOf(step)
	for _, e := range c.Errors {
		if e.Number != errno {
			continue
		}
		for _, cause := range e.Causes {
			about, _, _ := strings.Cut(cause.Cause, " ")
			about = strings.TrimSuffix(about, ":")
			if !slices.Contains(transitions, about) || strings.EqualFold(about, step) {
				cause.Cause = strings.TrimPrefix(cause.Cause, about+": ")
				out = append(out, cause)
			}
		}
	}
	return out
}

// OftenWrong lists advice that is often given and is wrong, with what is so.
func OftenWrong() []Advice { return errnos().OftenWrong }
