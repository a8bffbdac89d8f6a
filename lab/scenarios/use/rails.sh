# RoCE ports of an mlx5 as from the factory, one subnet each: labnic0, labnic2
# and so on, with the switch's port after each.
i=0
for dev in /sys/class/net/labnic*[02468]; do
	dev=${dev##*/}
	ip link set labnic$((${dev#labnic} + 1)) mtu 4200 up
	ip link set "$dev" mtu 4200 up
	ip addr add 192.0.$((2 + i)).1/24 dev "$dev"
	i=$((i + 1))
done
