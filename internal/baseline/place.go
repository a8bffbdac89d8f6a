package baseline

import (
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// where places a thing of this host.
func (c *comparison) where(t *settings.Thing) checks.Where {
	switch t.Kind {
	case settings.Device:
		return checks.Where{Device: t.Name, PCI: t.Fields["pci"]}
	case settings.Port:
		device, number, _ := strings.Cut(t.Name, "/")
		n, _ := strconv.Atoi(number) // 0 is no port, as it should be.
		return checks.Where{Device: device, Port: n}
	case settings.Netdev:
		return checks.Where{Netdev: t.Name}
	case settings.PCI:
		w := checks.Where{PCI: t.Name}
		for i := range c.now.Devices {
			if d := &c.now.Devices[i]; d.PCI.Or("") == t.Name {
				w.Device = d.Name
			}
		}
		return w
	case settings.CharDev:
		return checks.Where{Device: t.Fields["device"]}
	}
	return checks.Where{}
}

// evidence is where a field can be looked up.
func evidence(t *settings.Thing, field string) string {
	key := settings.Index(field)
	switch name := string(t.Kind) + "." + settings.Bare(field); {
	case t.Kind == settings.Device && files[name] != "":
		return "/sys/class/infiniband/" + t.Name + "/" + files[name]
	case t.Kind == settings.Port && files[name] != "":
		device, number, _ := strings.Cut(t.Name, "/")
		return "/sys/class/infiniband/" + device + "/ports/" + number + "/" + strings.ReplaceAll(files[name], "#", key)
	case t.Kind == settings.PCI && field != "":
		return "/sys/bus/pci/devices/" + t.Name + "/" + strings.TrimSuffix(field, "_gtps")
	case name == "netdev.ecn[]":
		return "/sys/class/net/" + t.Name + "/ecn/" + key
	case name == "netdev.sysctl[]":
		return "/proc/sys/net/ipv4/conf/" + t.Name + "/" + key
	case strings.HasPrefix(name, "netdev.dcb."):
		part, _, _ := strings.Cut(strings.TrimPrefix(settings.Bare(field), "dcb."), ".")
		return "dcb " + strings.TrimSuffix(strings.TrimSuffix(part, "[]"), "s") + " show dev " + t.Name
	case t.Kind == settings.Netdev && files[name] != "":
		return "/sys/class/net/" + t.Name + "/" + files[name]
	}
	return strings.TrimSpace(string(t.Kind) + " " + t.Name + " " + field)
}

// files are the sysfs files of fields, # for what stands in brackets.
var files = map[string]string{
	"device.fw_ver": "fw_ver", "device.board_id": "board_id", "device.hca_type": "hca_type",
	"device.node_guid": "node_guid", "device.sys_image_guid": "sys_image_guid", "device.node_type": "node_type",
	"device.node_desc": "node_desc", "device.hw_rev": "hw_rev",
	"port.rate_bits_per_second": "rate", "port.width_lanes": "rate", "port.speed": "rate", "port.state": "state",
	"port.phys_state": "phys_state", "port.link_layer": "link_layer", "port.lid": "lid", "port.sm_lid": "sm_lid",
	"port.cap_mask": "cap_mask", "port.pkeys[]": "pkeys/#", "port.gids[].gid": "gids/#",
	"port.gids[].type": "gid_attrs/types/#", "port.gids[].netdev": "gid_attrs/ndevs/#",
	"netdev.mtu_bytes": "mtu", "netdev.operstate": "operstate", "netdev.speed_bits_per_second": "speed",
	"netdev.carrier": "carrier", "netdev.mac": "address", "netdev.duplex": "duplex",
}
