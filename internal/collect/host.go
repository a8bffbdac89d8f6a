package collect

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// hostIdentity reads what machine this is, and whether its view is that of the
// whole machine or of a container.
var _ = register(Collector{
	Source: facts.Namespaces,
	Read: func(r *Reader) {
		b := r.batch()
		askSystem(b)
		askContainer(b)
		askNamespaces(b)
		b.run()
		if h := &r.Snap.Host; !h.Virtual.Known() && virtualMachine(h.Vendor.Or(""), h.Product.Or("")) {
			h.Virtual = facts.Some(true)
		}
	},
})

func askSystem(b *batch) {
	h := &b.r.Snap.Host
	b.add(hostio.Op{Kind: hostio.System, Name: "uname"}, func(res hostio.Result) {
		var u hostio.Uname
		if err := res.Err(); err != nil {
			b.r.Gap("uname", err)
			return
		}
		if json.Unmarshal(res.Data, &u) != nil || u.Release == "" {
			b.r.Malformed("uname", res.Text(), "a kernel release")
			return
		}
		h.Hostname, h.Kernel, h.Machine = u.Nodename, facts.Some(u.Release), facts.Some(u.Machine)
	})
	// A tree holds files only; a running host answers both ways.
	b.fileIf("/proc/sys/kernel/hostname", func(text string) {
		if name, err := parseText(text); err == nil && h.Hostname == "" {
			h.Hostname = name
		}
	})
	b.fileIf("/proc/sys/kernel/osrelease", func(text string) {
		if release, err := parseText(text); err == nil && !h.Kernel.Known() {
			h.Kernel = facts.Some(release)
		}
	})
	attr(b, "/proc/uptime", &h.Uptime, parseUptime)
	// os-release(5): the first overrides the second, and is a link to it mostly.
	attrIf(b, "/usr/lib/os-release", &h.OS, parseOSRelease)
	attrIf(b, "/etc/os-release", &h.OS, parseOSRelease)
	attrIf(b, "/sys/class/dmi/id/sys_vendor", &h.Vendor, parseText)
	attrIf(b, "/sys/class/dmi/id/product_name", &h.Product, parseText)
	// One processor tells; with hundreds the file is long.
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: "/proc/cpuinfo", Limit: 16 << 10}, func(res hostio.Result) {
		if err := res.Err(); err != nil && !res.Truncated {
			b.r.Gap("/proc/cpuinfo", err)
			return
		}
		if v, ok := parseHypervisor(string(res.Data)); ok {
			h.Virtual = facts.Some(v)
		}
	})
}

// parseUptime reads /proc/uptime: seconds since boot and idle seconds.
func parseUptime(s string) (time.Duration, error) {
	up, _, ok := strings.Cut(s, " ")
	seconds, err := strconv.ParseFloat(up, 64)
	// 1e9 s are 31 years. The comparison is false for NaN, too.
	if !ok || err != nil || !(seconds >= 0 && seconds < 1e9) {
		return 0, form("seconds since boot and idle seconds")
	}
	return time.Duration(seconds*1000) * time.Millisecond, nil
}

// parseOSRelease returns PRETTY_NAME of os-release(5), quotes taken off.
func parseOSRelease(s string) (string, error) {
	for line := range strings.Lines(s) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME=")
		if !ok {
			continue
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		// Inside double quotes the shell's escapes are allowed.
		for _, c := range []string{`"`, `$`, "`", `\`} {
			value = strings.ReplaceAll(value, `\`+c, c)
		}
		return parseText(value)
	}
	return "", errNoValue
}

// parseHypervisor looks for the flag "hypervisor" of the first processor. It is
// false where cpuinfo has no flags line, as on arm64.
func parseHypervisor(cpuinfo string) (virtual, ok bool) {
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) != "flags" {
			continue
		}
		for flag := range strings.FieldsSeq(value) {
			if flag == "hypervisor" {
				return true, true
			}
		}
		return false, true
	}
	return false, false
}

// virtualMachine reports whether DMI names a hypervisor, as systemd-detect-virt
// has them (dmi_vendor_table). On other machines it says nothing: Amazon's own
// hosts name EC2 too, and are told by their type.
func virtualMachine(vendor, product string) bool {
	switch vendor {
	case "QEMU", "KVM", "VMware, Inc.", "innotek GmbH", "Xen", "Bochs", "BHYVE":
		return true
	case "Amazon EC2":
		return product != "" && !strings.HasSuffix(product, ".metal") && !strings.Contains(product, ".metal-")
	case "Microsoft Corporation":
		return product == "Virtual Machine"
	case "Google":
		return product == "Google Compute Engine"
	}
	return strings.HasPrefix(product, "KVM") || product == "OpenStack Nova" || product == "KubeVirt" || product == "Alibaba Cloud ECS"
}
