# All ports of labhca carry 50,000 packets of 4 KiB a second both ways.
for rate in /sys/kernel/debug/labhca/[0-9]/ports/[0-9]/rate; do
	for way in xmit rcv; do
		echo 50000 >"$rate/port_${way}_packets"
		echo 50000 >"$rate/unicast_${way}_packets"
		echo 51200000 >"$rate/port_${way}_data" # in units of four bytes
	done
done
