package collect

import (
	"context"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// mostKept bounds an answer that is kept for the next who asks, in bytes. Long
// ones are asked for by one collector only.
const mostKept = 64 << 10

// A once is a Host that asks each op once a sample: collectors that read the
// same file see the same device, though it be taken away meanwhile, and a
// recording, which has one answer to an op, is judged as the host was.
type once struct {
	host    hostio.Host
	answers map[string]hostio.Result // by key, of this sample
}

func (o *once) Do(ctx context.Context, ops []hostio.Op) []hostio.Result {
	rs := make([]hostio.Result, len(ops))
	var ask []hostio.Op
	var at []int
	var keys []string
	for i, op := range ops {
		key := op.Key()
		if res, ok := o.answers[key]; ok {
			rs[i] = res
			continue
		}
		ask, at, keys = append(ask, op), append(at, i), append(keys, key)
	}
	if len(ask) == 0 {
		return rs
	}
	for k, res := range o.host.Do(ctx, ask) {
		rs[at[k]] = res
		if !res.TimedOut && len(res.Data) <= mostKept { // What timed out may be tried again.
			o.answers[keys[k]] = res
		}
	}
	return rs
}

// next forgets the answers of the last sample.
func (o *once) next() { clear(o.answers) }
