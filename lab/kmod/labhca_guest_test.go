package kmod

var labhcaCases = []guestCase{
	{name: "labhca is healthy", script: `
load labhca devices=2 ports=2 driver=mlx5_core
rdma link
rdma dev show labhca1 | cut -d ' ' -f 2-
cd /sys/class/infiniband/labhca0
cat fw_ver board_id hca_type hw_rev node_guid node_type
basename $(readlink device/driver)
cat ports/1/rate ports/1/link_layer ports/1/pkeys/0 ports/2/gids/0
ls ports/1/counters | wc -l
ls ports/1/hw_counters | wc -l
`, want: `
link labhca0/1 subnet_prefix fe80:0000:0000:0000 lid 17 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP
link labhca0/2 subnet_prefix fe80:0000:0000:0000 lid 18 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP
link labhca1/1 subnet_prefix fe80:0000:0000:0000 lid 33 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP
link labhca1/2 subnet_prefix fe80:0000:0000:0000 lid 34 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP
labhca1: node_type ca fw 20.35.1012 node_guid 0002:c903:0010:0100 sys_image_guid 0002:c903:0010:0100
20.35.1012
LAB0000000001
MT4123
0
0002:c903:0010:0000
1: CA
mlx5_core
200 Gb/sec (4X HDR)
InfiniBand
0xffff
fe80:0000:0000:0000:0002:c903:0010:0001
21
29
`},
	{name: "labhca takes any state", script: `
load labhca
P=$H/0/ports/1
echo INIT > $P/state; echo 0 > $P/sm_lid; echo 0 > $P/lid; echo 0x7fff > $P/pkeys/0
echo 2X > $P/width; echo NDR > $P/speed
echo 0xfec0000000000001 > $P/gid_prefix
echo 0 > $H/0/node_guid; echo 22.1.2 > $H/0/fw_ver; echo B2 > $H/0/board_id
sleep 0.3
rdma link
rdma dev | cut -d ' ' -f 2-
cd /sys/class/infiniband/labhca0
cat ports/1/rate ports/1/pkeys/0 board_id node_guid
ibstat labhca0 1 | grep -E 'State|SM lid'
echo DOWN > $P/state; echo Polling > $P/phys_state
cat ports/1/state ports/1/phys_state ports/1/counters/link_downed $P/state $P/phys_state
echo 65536 > $P/lid 2> /dev/null || echo refused
echo UP > $P/state 2> /dev/null || echo refused
`, want: `
link labhca0/1 subnet_prefix fec0:0000:0000:0001 lid 0 sm_lid 0 lmc 0 state INIT physical_state LINK_UP
labhca0: node_type ca fw 22.1.2 node_guid 0000:0000:0000:0000 sys_image_guid 0002:c903:0010:0000
200 Gb/sec (2X NDR)
0x7fff
B2
0000:0000:0000:0000
State: Initializing
SM lid: 0
1: DOWN
2: Polling
1
DOWN
Polling
refused
refused
`},
	{name: "labhca counters stick and grow", script: `
load labhca
P=$H/0/ports/1
S=/sys/class/infiniband/labhca0/ports/1
echo 70000 > $P/counters/symbol_error
echo 300 > $P/counters/link_downed
echo 20 > $P/counters/local_link_integrity_errors
echo 3 > $P/counters/excessive_buffer_overrun_errors
echo 5000000000 > $P/counters/port_xmit_data
echo 5000000001 > $P/counters/multicast_rcv_packets
echo 99 > $P/hw_counters/out_of_sequence
for c in symbol_error link_downed local_link_integrity_errors \
	excessive_buffer_overrun_errors port_xmit_data multicast_rcv_packets; do
	cat $S/counters/$c
done
rdma statistic show link labhca0/1 | grep -o 'out_of_sequence [0-9]*'
cat $P/counters/symbol_error
echo 100000 > $P/rate/port_rcv_packets
echo 1000 > $P/hw_rate/packet_seq_err
grows $S/counters/port_rcv_packets
grows $S/hw_counters/packet_seq_err
echo Disabled > $P/phys_state
grows $S/counters/port_rcv_packets
grows $S/hw_counters/packet_seq_err
rmmod labhca
load labhca ext_counters=0
echo 5000000000 > $P/counters/port_xmit_data
cat $S/counters/port_xmit_data
ls $S/counters | wc -l
`, want: `
65535
255
15
3
5000000000
5000000001
out_of_sequence 99
70000
grows
grows
stands
stands
4294967295
17
`},
	{name: "labhca hangs and lets go", script: `
load labhca ports=2
S=/sys/class/infiniband/labhca0/ports
for knob in hw_counters:1/hw_counters/out_of_sequence counters:2/counters/symbol_error \
	query_port:1/state; do
	echo 1 > $H/0/hang_${knob%%:*}
	cat $S/${knob#*:} &
	sleep 0.5
	kill -9 $!
	sleep 0.1
	sed -n 's/^State:\t//p' /proc/$!/status
	echo 0 > $H/0/hang_${knob%%:*}
	wait $! || echo gone
done
`, want: `
D (disk sleep)
gone
D (disk sleep)
gone
D (disk sleep)
gone
`},
	{name: "labhca is unplugged while in use", script: `
modprobe ib_uverbs
load labhca devices=2
echo 7 > $H/0/ports/1/counters/symbol_error
exec 5<> /dev/infiniband/uverbs0
echo 1 > $H/0/hang_hw_counters
cat /sys/class/infiniband/labhca0/ports/1/hw_counters/out_of_buffer > /dev/null &
sleep 0.5
echo 0 > $H/unplug
wait
rdma link | cut -d ' ' -f 2
exec 5>&-
echo 0 > $H/plug
rdma link | cut -d ' ' -f 2
cat /sys/class/infiniband/labhca0/ports/1/counters/symbol_error
echo 5 > $H/plug 2> /dev/null || echo refused
`, want: `
labhca1/1
labhca1/1
labhca0/1
7
refused
`},
	{name: "labhca stands on a netdev", script: `
load labnic
up labnic0 labnic1
ip link set labnic0 mtu 4200
ip addr add 10.0.0.1/24 dev labnic0
load labhca netdevs=labnic0 name=mlx5_%d gids=6
S=/sys/class/infiniband/mlx5_0/ports/1
rdma link
cat $S/rate $S/link_layer $S/gids/2 $S/gid_attrs/types/2 $S/gid_attrs/types/3 $S/gid_attrs/ndevs/3
ls $S/gids | wc -l
echo 1000 > $H/0/ports/1/hw_rate/np_cnp_sent
grows $S/hw_counters/np_cnp_sent
ip link set labnic0 down
rdma link
grows $S/hw_counters/np_cnp_sent
cat $S/counters/link_downed
ip netns add n
ip link set labnic0 netns n
rdma link
ip -n n link set labnic0 up
ip netns exec n rdma link
ip netns del n
sleep 0.5
up labnic0
rdma link
rmmod labnic
rdma link
`, want: `
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev labnic0
100 Gb/sec (4X EDR)
Ethernet
0000:0000:0000:0000:0000:ffff:0a00:0001
IB/RoCE v1
RoCE v2
labnic0
6
grows
link mlx5_0/1 state DOWN physical_state DISABLED netdev labnic0
stands
1
link mlx5_0/1 state DOWN physical_state DISABLED
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev labnic0
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev labnic0
link mlx5_0/1 state DOWN physical_state DISABLED
`},
	{name: "labhca has any driver's counters", script: `
for family in bnxt_re irdma efa; do
	load labhca family=$family names=mine,of_mine
	S=/sys/class/infiniband/labhca0
	echo 5 > $H/0/ports/1/hw_counters/mine
	cat $S/ports/1/link_layer $S/node_type $S/ports/1/hw_counters/mine
	ls $S/ports/1/hw_counters | wc -l
	[ ! -e $S/ports/1/counters ]
	if [ -e $S/hw_counters ]; then
		echo 8 > $H/0/hw_counters/mmap_err
		cat $S/hw_counters/mmap_err
	fi
	rmmod labhca
done
load labhca family=mlx4 2>&1 | grep -o 'Invalid parameters'
`, want: `
InfiniBand
1: CA
5
70
InfiniBand
1: CA
5
34
Unknown
7: unspecified
5
16
8
Invalid parameters
`},
	{name: "siw gives an iWARP port", script: `
load labnic
up labnic0 labnic1
load siw
rdma link add siw0 type siw netdev labnic0
rdma link
cat /sys/class/infiniband/siw0/node_type
`, want: `
link siw0/1 state ACTIVE physical_state LINK_UP netdev labnic0
4: RNIC
`},
	{name: "netdevsim has FEC and health reporters", script: `
load netdevsim
echo "1 1" > /sys/bus/netdevsim/new_device
dev=$(ls /sys/bus/netdevsim/devices/netdevsim1/net)
ethtool --show-fec $dev | grep Active
devlink health show netdevsim/netdevsim1 reporter dummy | grep -o 'state [a-z]*'
`, want: `
Active FEC encoding: None
state healthy
`},
}
