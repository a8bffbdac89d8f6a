package lab_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/scenario"
)

// eightDevices makes a host with eight RoCE ports.
const eightDevices = `set -e
modprobe rdma_rxe
modprobe ib_uverbs
for i in 0 1 2 3 4 5 6 7; do
	ip link add v$i type veth peer name w$i
	ip link set v$i up mtu 4200; ip link set w$i up mtu 4200
	ip addr add 192.0.2.$((i * 16 + 1))/28 dev v$i
	rdma link add rxe$i type rxe netdev v$i
done
sleep 3 # IPv6 addresses are tentative until then, and have no GID.
`

// standardTools ask for the facts that an examination collects, one tool after
// another, as a person would. What a software device does not have fails in a
// tool as it does in the doctor; a tool that is missing is told by 127.
const standardTools = `run() { "$@" > /dev/null 2>&1 || [ $? -ne 127 ] || { echo "$1 is missing" >&2; exit 1; }; }
run rdma -j dev; run rdma -j link; run rdma -j system; run rdma -j resource; run rdma -j statistic
run ibv_devinfo -v; run ibstat
for i in 0 1 2 3 4 5 6 7; do
	run ethtool v$i; run ethtool -i v$i; run ethtool -S v$i; run ethtool -a v$i; run ethtool --show-fec v$i
	run dcb -j pfc show dev v$i; run dcb -j ets show dev v$i; run dcb -j app show dev v$i
	run dcb -j buffer show dev v$i; run dcb -j dcbx show dev v$i
done
run ip -j -d -s link; run ip -j addr; run ip -j rule; run ip -j route show table all; run ip -j neigh
run lsmod; run dmesg
`

// timed is a shell function that prints how long a function took, in
// milliseconds. It reads the clock without starting a program, which would
// be a good part of what a fast one takes.
const timed = `timed() {
	read a _ < /proc/uptime; "$@" || exit 1; read b _ < /proc/uptime
	echo "$1 $(((${b%.*}${b#*.} - ${a%.*}${a#*.}) * 10))"
}
`

// BenchmarkExamination measures one passive examination without the wait for
// the second sample beside the standard tools in the same guest, by turns. It
// reports medians, and the share that make bar holds against its limit.
func BenchmarkExamination(b *testing.B) {
	k, err := lab.Ready(b.Context(), "6.1")
	if err != nil {
		b.Fatal(err)
	}
	doctor, err := scenario.BuildDoctor(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	g, err := lab.Boot(b.Context(), lab.Options{Kernel: k, Tools: []string{doctor}})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	const turns = 5
	script := eightDevices + timed + "doctor() { rdmadoctor check --json --interval 0s > /run/report || [ $? -le 1 ]; }\n" +
		"tools() { " + standardTools + "}\ndoctor; tools\n" +
		strings.Repeat("timed doctor; timed tools\n", turns)
	for b.Loop() {
		r, err := g.Run(b.Context(), lab.Cmd{Script: script, Timeout: 20 * time.Minute, Env: []string{"PATH=/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin"}})
		if err != nil || r.ExitCode != 0 {
			b.Fatalf("exit code %d, %v: %s", r.ExitCode, err, r.Text())
		}
		doctor, tools := medians(b, string(r.Stdout), turns)
		b.ReportMetric(doctor, "doctor-ms")
		b.ReportMetric(tools, "tools-ms")
		b.ReportMetric(doctor/tools, "of-tools")
		if err := g.Reset(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// medians reads what timed printed.
func medians(b *testing.B, out string, turns int) (doctor, tools float64) {
	times := map[string][]float64{}
	for line := range strings.Lines(out) {
		name, ms, ok := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(ms, 64); ok && err == nil {
			times[name] = append(times[name], v)
		}
	}
	for _, name := range []string{"doctor", "tools"} {
		if len(times[name]) != turns {
			b.Fatalf("%d times of %s, want %d, in %q", len(times[name]), name, turns, out)
		}
		slices.Sort(times[name])
	}
	b.Log(fmt.Sprint(times))
	return times["doctor"][turns/2], times["tools"][turns/2]
}
