package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mess changes one thing in each section of the inventory, and leaves an
// RDMA device held by a process that nobody asked for.
const mess = `set -e
modprobe -a rdma_rxe rdma_ucm ib_umad veth 8021q sch_netem nf_tables
ip link add v0 type veth peer name v1
ip addr add 192.0.2.1/24 dev v0
ip link set v0 up mtu 4200
ip link set v1 up mtu 4200
ip link add link v0 name v0.5 type vlan id 5
rdma link add rxe0 type rxe netdev v0
mkdir /sys/kernel/config/rdma_cm/rxe0
tc qdisc add dev v1 root netem loss 1%
tc qdisc add dev lo root netem delay 1ms
nft add table inet lab
ip netns add lab
ip link add n0 netns lab type veth peer name n1
ip route add blackhole 198.51.100.0/24
ip rule add from 192.0.2.9 table 77
sysctl -q -w net.ipv4.conf.all.rp_filter=2 kernel.hostname=else net.ipv4.ip_forward=1
chmod 600 /dev/null /dev/infiniband/uverbs0
rm /dev/zero
mknod /dev/lab c 1 3
touch /dev/shm/lab /run/lab /tmp/lab
echo lab > /etc/lab
mount -t tmpfs lab /mnt
mkdir -p /sys/fs/cgroup/system.slice/lab.service
echo +pids > /sys/fs/cgroup/cgroup.subtree_control
echo "lab: a line that must not stay" > /dev/kmsg
setsid ibv_asyncwatch -d rxe0 >/dev/null 2>&1 &
echo $! > /sys/fs/cgroup/system.slice/lab.service/cgroup.procs
i=0
until ls -l /proc/$!/fd 2>/dev/null | grep -q uverbs0
do i=$((i+1)); test $i -lt 100; sleep 0.1; done
rm /etc/libibverbs.d/rxe.driver
`

func testReset(t *testing.T, g *Guest) {
	if err := g.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := g.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Run(t.Context(), Cmd{Script: mess, Cgroup: "lab/mess"})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("mess: exit code %d, %v: %s", r.ExitCode, err, r.Text())
	}
	messy, err := g.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for section := range before {
		if slices.Equal(before[section], messy[section]) {
			t.Errorf("%s: no change made, so its reset is not tested", section)
		}
	}
	start := time.Now()
	if err := g.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: reset took %v", g.Release, time.Since(start).Round(10*time.Millisecond))
	after, err := g.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("after reset (-want +got):\n%s", diff)
	}
	r, err = g.Run(t.Context(), Cmd{Script: "dmesg; tc qdisc show dev lo; ls /run /tmp"})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("look: exit code %d, %v: %s", r.ExitCode, err, r.Text())
	}
	for _, left := range []string{"must not stay", "netem", "lab\n"} {
		if strings.Contains(string(r.Stdout), left) {
			t.Errorf("%q is left after reset", left)
		}
	}
}

// testDirty leaves a setting that the kernel does not let anyone take back.
func testDirty(t *testing.T, g *Guest) {
	r, err := g.Run(t.Context(), Cmd{Script: "sysctl -w kernel.kexec_load_disabled=1"})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("set: exit code %d, %v: %s", r.ExitCode, err, r.Text())
	}
	err = g.Reset(t.Context())
	if !errors.Is(err, ErrDirty) || !strings.Contains(err.Error(), "kexec_load_disabled") {
		t.Fatalf("got %v, want ErrDirty that names the setting", err)
	}
	if _, err := g.Run(t.Context(), Cmd{Script: "true"}); !errors.Is(err, ErrDirty) {
		t.Errorf("run in a dirty guest: got %v, want ErrDirty", err)
	}
}
