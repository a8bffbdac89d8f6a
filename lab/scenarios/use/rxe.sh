# A host with one RoCE v2 port: Soft-RoCE on one end of a veth pair. The other
# end is the switch.
modprobe -a veth rdma_rxe rdma_ucm
ip link add v0 type veth peer name v1
ip link set v0 mtu 4200 up
ip link set v1 mtu 4200 up
ip addr add 192.0.2.1/24 dev v0
rdma link add rxe0 type rxe netdev v0
