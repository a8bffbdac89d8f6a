# A lossless RoCE port of an mlx5 that is set up as on hardware: PFC on
# priority 3, DSCP 26 mapped to it, global pause off. labnic1 is the switch.
modprobe -a rdma_rxe rdma_ucm
ip link set labnic1 mtu 4200 up
ip link set labnic0 mtu 4200 up
ethtool -A labnic0 rx off tx off
# In a slow guest dcb(8) at times takes an answer for one of another request
# (EPROTO): it numbers requests by the second.
dcb() {
  command dcb "$@" || command dcb "$@"
}
dcb pfc set dev labnic0 prio-pfc 3:on
dcb app replace dev labnic0 dscp-prio 26:3
dcb ets set dev labnic0 prio-tc all:0 3:3
ip addr add 192.0.2.1/24 dev labnic0
rdma link add rxe0 type rxe netdev labnic0
