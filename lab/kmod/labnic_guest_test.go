package kmod

var labnicCases = []guestCase{
	{name: "labnic is factory new", script: `
load labnic
up labnic0
cat /sys/class/net/labnic0/carrier
up labnic1
cat /sys/class/net/labnic0/carrier /sys/class/net/labnic0/speed
basename $(readlink /sys/class/net/labnic0/device/driver)
dcb pfc show dev labnic0 prio-pfc
dcb ets show dev labnic0 tc-tsa
dcb app show dev labnic0
dcb dcbx show dev labnic0
dcb buffer show dev labnic0 prio-buffer
ethtool -a labnic0 | grep X:
ethtool --show-fec labnic0 | grep Active
ip -d link show labnic0 | grep -o 'maxmtu [0-9]*'
`, want: `
0
1
100000
labnic
prio-pfc 0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off
tc-tsa 0:vendor 1:vendor 2:vendor 3:vendor 4:vendor 5:vendor 6:vendor 7:vendor
host cee ieee
prio-buffer 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0
RX:		on
TX:		on
Active FEC encoding: RS
maxmtu 9216
`},
	{name: "labnic keeps DCB settings", script: `
load labnic
up labnic0 labnic1
dcb pfc set dev labnic0 prio-pfc 3:on
dcb pfc show dev labnic0 prio-pfc
dcb buffer show dev labnic0 prio-buffer
dcb app add dev labnic0 dscp-prio 26:3 48:6
dcb app replace dev labnic0 dscp-prio 26:4
dcb app show dev labnic0
dcb ets set dev labnic0 tc-tsa all:strict 0:ets 3:ets tc-bw 0:30 3:70 prio-tc all:0 3:3
dcb ets show dev labnic0 tc-tsa tc-bw prio-tc
# dcb of iproute2 6.1 says nothing when the kernel refuses.
dcb ets set dev labnic0 tc-tsa 5:cbs
dcb ets show dev labnic0 tc-tsa
dcb buffer set dev labnic0 prio-buffer all:0 buffer-size all:0 0:200000
dcb pfc set dev labnic0 prio-pfc 5:on
dcb buffer show dev labnic0 prio-buffer
dcb buffer set dev labnic0 buffer-size 0:300000
dcb buffer show dev labnic0 buffer-size
dcb dcbx set dev labnic0 host ieee
dcb dcbx show dev labnic0
echo 12 > $N/labnic0/dcbx
dcb dcbx show dev labnic0
`, want: `
prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off
prio-buffer 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0
dscp-prio AF31:4 CS6:6
tc-tsa 0:ets 1:strict 2:strict 3:ets 4:strict 5:strict 6:strict 7:strict
tc-bw 0:30 1:0 2:0 3:70 4:0 5:0 6:0 7:0
prio-tc 0:0 1:0 2:0 3:3 4:0 5:0 6:0 7:0
tc-tsa 0:ets 1:strict 2:strict 3:ets 4:strict 5:strict 6:strict 7:strict
prio-buffer 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0
buffer-size 0:200000b 1:0b 2:0b 3:0b 4:0b 5:0b 6:0b 7:0b
host ieee
cee ieee
`},
	{name: "labnic shows pause counters as mlx5 does", script: `
load labnic
up labnic0 labnic1
shown() { ethtool -S labnic0 | grep -c "$1" || true; }
shown prio3_pause; shown global_pause
ethtool -A labnic0 rx off tx off
dcb pfc set dev labnic0 prio-pfc 3:on
shown prio3_pause; shown global_pause; shown prio4_pause
echo 7 > $N/labnic0/counters/rx_prio3_pause
echo 9 > $N/labnic0/counters/tx_prio3_pause
echo 0x10 > $N/labnic0/counters/rx_pause_ctrl_phy
stat labnic0 rx_prio3_pause
dcb -s pfc show dev labnic0 requests indications
ethtool -I -a labnic0 | grep rx_pause
ethtool -S labnic0 | grep -c : 
`, want: `
0
5
5
0
0
7
requests 0:0 1:0 2:0 3:9 4:0 5:0 6:0 7:0
indications 0:0 1:0 2:0 3:7 4:0 5:0 6:0 7:0
rx_pause_frames: 16
132
`},
	{name: "labnic storm ends with a reset of the port", script: `
load labnic
up labnic0 labnic1
P=$N/labnic0
dcb pfc set dev labnic0 prio-pfc 3:on
echo 600000 > $P/rate/rx_prio3_pause_duration
echo 5 > $P/rate/rx_symbol_err_phy
grows $P/counters/rx_prio3_pause_duration
ip link set labnic0 down
grows $P/counters/rx_symbol_err_phy
up labnic0
cat $P/rate/rx_prio3_pause_duration $P/rate/rx_symbol_err_phy
grows $P/counters/rx_prio3_pause_duration
stat labnic0 link_down_events_phy
echo 0 > $P/reset_clears_pause
echo 600000 > $P/rate/rx_prio3_pause_duration
ip link set labnic0 down
up labnic0
cat $P/rate/rx_prio3_pause_duration
`, want: `
grows
stands
0
5
stands
2
600000
`},
	{name: "labnic discards end with PFC", script: `
load labnic
up labnic0 labnic1
P=$N/labnic0
ethtool -A labnic0 rx off tx off
echo 8 > $P/congestion/prios
grows $P/counters/rx_prio3_discards
grows $P/counters/rx_discards_phy
grows $P/counters/rx_prio4_discards
grows $P/counters/tx_prio3_pause
dcb pfc set dev labnic0 prio-pfc 3:on
grows $P/counters/rx_prio3_discards
grows $P/counters/rx_discards_phy
grows $P/counters/tx_prio3_pause
grows $N/labnic1/counters/rx_prio3_pause_duration
dcb pfc set dev labnic0 prio-pfc 3:off
ethtool -A labnic0 tx on
grows $P/counters/rx_prio3_discards
grows $P/counters/tx_global_pause
grows $P/counters/tx_pause_ctrl_phy
`, want: `
grows
grows
stands
stands
stands
stands
grows
grows
stands
grows
grows
`},
	{name: "labnic counts and loses frames by priority", script: `
load labnic
ip netns add far
ip link set labnic1 netns far
ip addr add 10.0.0.1/24 dev labnic0
ip -n far addr add 10.0.0.2/24 dev labnic1
ip -n far link set labnic1 up
up labnic0
ping -q -c 1 -w 5 10.0.0.2 > /dev/null
heard() { ping -q -c 3 -i 0.2 -W 1 $* 10.0.0.2 | grep -o '[0-9]* received'; }
# 0x68 is DSCP 26. Without an APP entry PCP is trusted: all is priority 0.
before=$(stat labnic0 tx_prio0_packets)
heard -Q 0x68
[ $(stat labnic0 tx_prio0_packets) -ge $((before + 3)) ]
stat labnic0 tx_prio3_packets
dcb app add dev labnic0 dscp-prio 26:3
heard -Q 0x68
stat labnic0 tx_prio3_packets
stat labnic0 rx_prio3_packets
# A VLAN's priority counts at the far end, which trusts PCP.
ip link add link labnic0 name vlan5 type vlan id 5 egress-qos-map 0:5
ip -n far link add link labnic1 name vlan5 type vlan id 5
ip addr add 10.0.5.1/24 dev vlan5
ip -n far addr add 10.0.5.2/24 dev vlan5
ip -n far link set vlan5 up
up vlan5
ping -q -c 3 -i 0.2 -w 5 10.0.5.2 | grep -o '[0-9]* received'
[ $(cat $N/labnic1/counters/rx_prio5_packets) -ge 3 ] && echo prio 5
# The replies of priority 3 are lost at labnic0 while it is congested.
ethtool -A labnic0 rx off tx off
echo 8 > $N/labnic0/congestion/prios
echo 0 > $N/labnic0/congestion/discards
echo 1 > $N/labnic0/congestion/drop_every
heard -Q 0x68 || true
heard
stat labnic0 rx_prio3_discards
stat labnic0 rx_discards_phy
dcb pfc set dev labnic0 prio-pfc 3:on
sleep 1
heard -Q 0x68
`, want: `
3 received
0
3 received
3
3
3 received
prio 5
0 received
3 received
3
3
3 received
`},
	{name: "labnic tells RoCE frames and too large ones", script: `
load labnic
modprobe rdma_rxe
ip link set labnic0 mtu 4200
ip link set labnic1 mtu 4200
up labnic0 labnic1
ip addr add 10.0.0.1/24 dev labnic0
rdma link add rxe0 type rxe netdev labnic0
cat /sys/class/infiniband/rxe0/ports/1/rate
ip neigh add 10.0.0.2 lladdr $(cat /sys/class/net/labnic1/address) dev labnic0
bash -c 'printf x > /dev/udp/10.0.0.2/4791; printf x > /dev/udp/10.0.0.2/4792'
stat labnic0 tx_vport_rdma_unicast_packets
stat labnic1 rx_vport_rdma_unicast_packets
ip link set labnic1 mtu 1500
ping -q -c 1 -w 1 -s 3000 10.0.0.2 | grep -o '[0-9]* received' || true
stat labnic1 rx_oversize_pkts_phy
`, want: `
100 Gb/sec (4X EDR)
1
1
0 received
1
`},
	{name: "labnic link follows both ends", script: `
load labnic
up labnic0 labnic1
told() { ethtool labnic0 | sed -n 's/^\t\(Speed\|Link detected\): //p' | paste -sd ' '; }
told
echo 0 > $N/labnic0/carrier; told
echo 1 > $N/labnic0/carrier
echo 25000 > $N/labnic0/cable_speed; told
echo 0 > $N/labnic0/cable_speed
ethtool -s labnic1 speed 10000 autoneg off; told
ethtool -s labnic0 speed 50000 autoneg off; told
ethtool -s labnic1 speed 50000 autoneg off; told
ethtool --set-fec labnic0 encoding off
ethtool --set-fec labnic1 encoding rs; told
ethtool --set-fec labnic0 encoding auto; told
ip link set labnic1 down; told
echo 3 > $N/labnic0/ext_state; told
echo 2 2> /dev/null > $N/labnic0/carrier || echo refused
`, want: `
100000Mb/s yes
Unknown! no (No cable)
25000Mb/s yes
10000Mb/s yes
Unknown! no (Autoneg, No HCD)
50000Mb/s yes
Unknown! no (Autoneg, FEC mismatch during override)
50000Mb/s yes
Unknown! no (Autoneg, No partner detected)
Unknown! no (Bad signal integrity)
refused
`},
	{name: "labnic goes by another name", script: `
load labnic driver=mlx5_core pairs=2 speed=200000
up labnic2 labnic3
cat /sys/class/net/labnic3/speed
ethtool -i labnic3 | grep -E 'driver|bus-info'
basename $(readlink /sys/class/net/labnic3/device/driver)
ls $N | paste -sd ' '
insmod $M/labnic.ko speed=7 2>&1 | grep -o 'File exists'
`, want: `
200000
driver: mlx5_core
bus-info: mlx5_core.3
mlx5_core
labnic0 labnic1 labnic2 labnic3
File exists
`},
	{name: "labnic trusts what it is told to", only: "6.12", script: `
load labnic apptrust=1
up labnic0 labnic1
apptrust labnic0
apptrust labnic0 255 5
apptrust labnic0 1
apptrust labnic0 5
dcb app add dev labnic0 dscp-prio 26:4
ip addr add 10.0.0.1/24 dev labnic0
ip neigh add 10.0.0.2 lladdr $(cat /sys/class/net/labnic1/address) dev labnic0
sent() {
	ping -q -c 2 -i 0.2 -W 1 -Q 0x68 10.0.0.2 > /dev/null || true
	cat $N/labnic0/counters/tx_prio4_packets
}
sent
apptrust labnic0 255
sent
rmmod labnic
load labnic
apptrust labnic0 5
`, want: `
trust
trust 255 5
errno 95
trust 255 5
trust 5
2
trust 255
2
errno 95
absent
`},
	{name: "labnic of an old kernel has no trust table", only: "6.1", script: `
load labnic apptrust=1
apptrust labnic0
`, want: `
absent
`},
}
