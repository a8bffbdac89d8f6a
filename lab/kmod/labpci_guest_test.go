package kmod

var labpciCases = []guestCase{
	{name: "labpci is a hierarchy like any other", script: `
load labpci nics=2 gpus=1 lonely=1 vfs=2
lspci -D -n | grep ^0001
cd /sys/bus/pci/devices/0001:03:00.0
cat current_link_speed current_link_width max_link_width numa_node
basename $(readlink driver)
cat /sys/bus/pci/devices/0001:04:00.0/class
setpci -s 0001:03:00.0 CAP_EXP+8.w=0000:7000
lspci -s 0001:03:00.0 -vv | grep -o 'MaxReadReq [0-9]*'
echo 2 > sriov_numvfs
basename $(readlink virtfn1)
echo 0 > sriov_numvfs
`, want: `
0001:00:00.0 0604: 8086:347a
0001:00:01.0 0604: 8086:347a
0001:01:00.0 0604: 10b5:c010
0001:02:00.0 0604: 10b5:c010
0001:02:01.0 0604: 10b5:c010
0001:03:00.0 0200: 15b3:101d
0001:04:00.0 0302: 10de:2330
0001:09:00.0 0604: 10b5:c010
0001:0a:00.0 0604: 10b5:c010
0001:0a:01.0 0604: 10b5:c010
0001:0c:00.0 0302: 10de:2330
16.0 GT/s PCIe
16
16
-1
mlx5_core
0x030200
MaxReadReq 128
0001:03:01.1
`},
	{name: "labpci is made sick", script: `
load labpci
load labhca parents=0001:01:00.0 driver=mlx5_core
P=/sys/kernel/debug/labpci/0001:01:00.0
cd /sys/bus/pci/devices/0001:01:00.0
ls infiniband
echo 8 > $P/width; echo 3 > $P/speed
cat current_link_speed current_link_width ../current_link_width
echo 1 > $P/correctable
for try in 1 2 3 4 5 6 7 8 9 10; do
	grep -q 'RxErr 1' aer_dev_correctable && break
	sleep 0.1
done
grep RxErr aer_dev_correctable
echo 1 > $P/lost
head -c 4 config | od -An -tx1
rmmod labpci 2> /dev/null || echo held
echo 0 > $P/lost
rmmod labhca
rmmod labpci
`, want: `
labhca0
8.0 GT/s PCIe
8
8
RxErr 1
 ff ff ff ff
held
`},
	{name: "labcpu has the kernel's governors", script: `
load labcpu
cd /sys/devices/system/cpu/cpufreq/policy0
cat scaling_driver cpuinfo_max_freq
modprobe cpufreq_powersave
echo powersave > scaling_governor
cat scaling_governor scaling_cur_freq
cd /
rmmod labcpu
modprobe -r cpufreq_powersave
`, want: `
acpi-cpufreq
3000000
powersave
800000
`},
}
