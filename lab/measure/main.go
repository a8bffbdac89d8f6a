// Measure runs one measurement of the verbs engine between two processes, as
// perftest's programs do, so that both can be compared in one guest:
//
//	measure [flags] TEST           waits for the other end
//	measure [flags] TEST ADDRESS   measures and prints the figure
//
// TEST is read_lat, write_lat, send_lat, read_bw, write_bw or send_bw, or what
// any of them is called in perftest (ib_read_lat). A latency is printed in
// microseconds, the median; a bandwidth in MiB a second, the average.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run() error {
	device := flag.String("d", "rxe0", "`device`")
	index := flag.Int("x", 1, "`index` of the GID")
	size := flag.Int("s", 0, "`bytes` a message; 0 is 2 for latency, 65536 for bandwidth")
	iterations := flag.Int("n", 1000, "`messages`")
	events := flag.Bool("e", false, "sleep on events")
	port := flag.Int("p", 18515, "TCP `port`")
	flag.Parse()
	if flag.NArg() < 1 || flag.NArg() > 2 {
		return fmt.Errorf("want TEST [ADDRESS]")
	}
	name := strings.TrimPrefix(flag.Arg(0), "ib_")
	what, kind, _ := strings.Cut(name, "_")
	op, ok := map[string]verbs.Opcode{"read": verbs.OpRDMARead, "write": verbs.OpRDMAWrite, "send": verbs.OpSend}[what]
	if !ok || kind != "lat" && kind != "bw" {
		return fmt.Errorf("test %q: want read_lat, write_lat, send_lat, read_bw, write_bw or send_bw", name)
	}
	l := verbs.Loop{Op: op, Size: *size, Iterations: *iterations, Events: *events, Initiator: flag.NArg() == 2, Limit: 5 * time.Minute}
	if l.Size == 0 && kind == "lat" {
		l.Size = 2
	} else if l.Size == 0 {
		l.Size = 65536
	}
	if kind == "lat" {
		l.InlineMax = map[verbs.Opcode]int{verbs.OpRDMAWrite: verbs.InlineWrite, verbs.OpSend: verbs.InlineSend}[op]
		l.Depth = 1
	}
	c, err := dial(flag.Arg(1), *port)
	if err != nil {
		return err
	}
	defer c.Close()
	e, err := open(*device, *index, l)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.connect(c, &l); err != nil {
		return err
	}
	if err := l.Prepare(); err != nil {
		return err
	}
	if err := c.barrier(); err != nil {
		return err
	}
	if err := measure(l, kind == "lat"); err != nil {
		return err
	}
	// The far end is not to take its memory away before this one is done.
	return c.barrier()
}

func measure(l verbs.Loop, latency bool) error {
	ctx := context.Background()
	switch {
	case latency && (l.Initiator || l.Op != verbs.OpRDMARead):
		got, err := l.Latency(ctx)
		if err != nil || !l.Initiator {
			return err
		}
		s := slices.Sorted(slices.Values(got.Samples))
		fmt.Printf("%.3f\n", float64(s[len(s)/2].Nanoseconds())/1000)
	case !latency && l.Initiator:
		got, err := l.Stream(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%.3f\n", float64(got.Bytes)/got.Took.Seconds()/(1<<20))
	case !latency && l.Op == verbs.OpSend:
		_, err := l.Sink(ctx)
		return err
	}
	return nil
}
