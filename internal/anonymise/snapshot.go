package anonymise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// LearnSnapshot takes note of what the snapshot of a report holds.
func (a *Anonymiser) LearnSnapshot(s *facts.Snapshot) error {
	v, err := plain(s)
	if err != nil {
		return err
	}
	a.learnSerials(v)
	fields(v, "", func(name, text string) string {
		switch {
		case kept[name]:
		case name == "log.text":
			a.learnLogLine(text)
		default:
			a.learnField(name, text)
		}
		return text
	})
	return nil
}

func (a *Anonymiser) learnField(name, text string) {
	a.learnText(text)
	for _, m := range home.FindAllStringSubmatch(text, -1) {
		a.learnWord(m[1])
	}
	switch name {
	case "host.hostname":
		a.learnHost(text)
	case "processes.comm", "self.comm":
		a.learnProcess(text)
	case "processes.user", "self.user", "limit_rules.domain":
		a.learnWord(strings.TrimPrefix(text, "@"))
	}
}

// Snapshot gives the snapshot without what was learned.
func (a *Anonymiser) Snapshot(s *facts.Snapshot) (*facts.Snapshot, error) {
	if !a.ready {
		panic("anonymise: Snapshot before Ready")
	}
	v, err := plain(s)
	if err != nil {
		return nil, err
	}
	v = fields(v, "", a.field)
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("anonymise: write snapshot: %w", err)
	}
	out := new(facts.Snapshot)
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("anonymise: read snapshot: %w", err)
	}
	return out, nil
}

// kept are the fields with nothing of anyone in them, some of which look like
// addresses.
var kept = map[string]bool{"host.kernel_release": true, "devices.fw_ver": true, "devices.board_id": true, "devices.hca_type": true,
	"devices.hw_rev": true, "netdevs.fw_ver": true, "netdevs.driver_version": true, "modules.version": true, "taken": true, "schema": true}

// field is what a field holds instead.
func (a *Anonymiser) field(name, text string) string {
	switch name {
	case "host.hostname", "devices.node_desc":
		return a.ofHost(text)
	case "netdevs.lldp.system_name":
		return a.lldpName(text)
	case "netdevs.lldp.chassis":
		if is := a.marked(text); is != text {
			return is
		}
		return a.lldpName(text)
	case "netdevs.lldp.port_description":
		return a.key.word(text)
	case "netdevs.lldp.port":
		return a.marked(text)
	case "processes.comm", "self.comm":
		return a.process(text)
	case "log.text":
		return a.logLine(text)
	case "processes.cgroup", "self.cgroup", "processes.unit", "self.unit", "rdma.cgroup.path", "gaps.what", "gaps.detail":
		return a.controlGroup(text)
	case "processes.user", "self.user", "processes.env", "self.env", "settings.value", "settings.file",
		"limit_rules.domain", "limit_rules.file", "units.files":
		return a.text(text)
	}
	if kept[name] {
		return text
	}
	return a.marked(text)
}

// plain is a snapshot as JSON has it.
func plain(s *facts.Snapshot) (any, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("anonymise: read snapshot: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // Counters have 64 bits.
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("anonymise: read snapshot: %w", err)
	}
	return v, nil
}

// fields puts in the place of every string what use makes of it. Entries of a
// list are called like the list, and so are variables of an environment.
func fields(v any, name string, use func(name, text string) string) any {
	switch v := v.(type) {
	case string:
		return use(name, v)
	case []any:
		for i := range v {
			v[i] = fields(v[i], name, use)
		}
	case map[string]any:
		for k, e := range v {
			in := strings.TrimPrefix(name+"."+k, ".")
			if strings.HasSuffix(name, ".env") {
				in = name
			}
			v[k] = fields(e, in, use)
		}
	}
	return v
}
