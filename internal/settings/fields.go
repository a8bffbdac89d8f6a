package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// moves are the fields that differ between any two looks at a healthy host, or
// that name the thing itself. Counters are known by their type.
var moves = map[string]bool{
	"pci.runtime_status":             true,
	"pci.config.bytes":               true, // What the reader's rights let him see.
	"port.data_rate_bits_per_second": true, // It follows from speed and width.

	"netdev.transceiver.temperature_celsius": true,

	"host.uptime_nanos":                     true,
	"host.self.pid":                         true,
	"host.self.comm":                        true,
	"host.self.vm_pin_bytes":                true,
	"host.self.vm_lck_bytes":                true,
	"host.self.cgroup":                      true,
	"host.self.unit":                        true,
	"host.self.uverbs":                      true,
	"host.self.open_files":                  true,
	"host.self.map_count":                   true,
	"device.name":                           true,
	"device.index":                          true,
	"device.ports":                          true,
	"device.resources[].current":            true,
	"port.number":                           true,
	"port.state_last":                       true,
	"netdev.name":                           true,
	"netdev.index":                          true,
	"pci.address":                           true,
	"chardev.path":                          true,
	"module.name":                           true,
	"module.size_bytes":                     true,
	"unit.name":                             true,
	"host.memory.available_bytes":           true,
	"host.memory.swap_free_bytes":           true,
	"host.memory.cgroup_current_bytes":      true,
	"host.rdma.cgroup[].hca_handle_current": true,
	"host.rdma.cgroup[].hca_object_current": true,
}

var (
	counterType = reflect.TypeFor[facts.Counter]()
	timeType    = reflect.TypeFor[time.Time]()
)

// fields flattens a fact type. Names follow the JSON tags; what is one of many
// stands in brackets, by what tells it apart.
func fields(kind Kind, v any) map[string]string {
	out := map[string]string{}
	w := walker{kind: string(kind), out: out}
	w.walk("", reflect.ValueOf(v))
	return out
}

type walker struct {
	kind string
	out  map[string]string
}

// walk adds what v holds under name.
func (w *walker) walk(name string, v reflect.Value) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Type() == counterType || v.Type() == timeType || moves[w.kind+"."+Bare(name)] {
		return
	}
	if inner, ok, isOpt := opened(v); isOpt {
		if ok {
			w.walk(name, inner)
		}
		return
	}
	if s, ok := v.Interface().(fmt.Stringer); ok && v.Kind() != reflect.Struct {
		w.out[name] = s.String()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		w.walkStruct(name, v)
	case reflect.Map:
		w.walkMap(name, v)
	case reflect.Slice, reflect.Array:
		w.walkList(name, v)
	case reflect.String:
		if v.String() != "" {
			w.out[name] = v.String()
		}
	default:
		w.out[name] = fmt.Sprint(v.Interface())
	}
}

func (w *walker) walkStruct(name string, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" || tag == "-" || !f.IsExported() {
			continue
		}
		w.walk(join(name, tag), v.Field(i))
	}
}

func (w *walker) walkMap(name string, v reflect.Value) {
	if v.Type().Elem() == counterType {
		return
	}
	for _, k := range v.MapKeys() {
		w.walk(name+"["+fmt.Sprint(k.Interface())+"]", v.MapIndex(k))
	}
}

func (w *walker) walkList(name string, v reflect.Value) {
	elem := v.Type().Elem()
	if elem == counterType || v.Len() == 0 {
		return
	}
	if elem.Kind() != reflect.Struct {
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = fmt.Sprint(v.Index(i).Interface())
		}
		if v.Kind() == reflect.Slice && elem.Kind() == reflect.String {
			slices.Sort(parts)
		}
		w.out[name] = strings.Join(parts, ",")
		return
	}
	for i := range v.Len() {
		key, value := element(v.Index(i).Interface(), i)
		if name := name + "[" + key + "]"; value != "" {
			w.out[name] = value
		} else {
			w.walk(name, v.Index(i))
		}
	}
}

// element tells one of a list apart from the others, and is its value where it
// has only one.
func element(v any, i int) (key, value string) {
	switch v := v.(type) {
	case facts.GID:
		return itoa(v.Index), ""
	case facts.PKey:
		return itoa(v.Index), fmt.Sprintf("%#04x", v.Value)
	case facts.App:
		return fmt.Sprintf("%d:%d", v.Selector, v.Protocol), itoa(v.Priority)
	case facts.Address:
		return v.IP, itoa(v.PrefixLen)
	case facts.Qdisc:
		return v.Parent, v.Kind
	case facts.RDMACgroupLimit:
		return v.Path + " " + v.Device, ""
	case facts.LLDPNeighbor:
		v.About = "" // What is said of a port need not stay.
		return itoa(i), v.String()
	case facts.DriverFile:
		return v.Path, v.Driver
	case facts.FilterRule:
		b, err := json.Marshal(v)
		if err == nil {
			return itoa(i), string(b)
		}
	}
	return itoa(i), ""
}

// opened is what a facts.Opt holds, and whether v is one at all.
func opened(v reflect.Value) (inner reflect.Value, known, isOpt bool) {
	if v.Kind() != reflect.Struct || !strings.HasPrefix(v.Type().Name(), "Opt[") {
		return v, false, false
	}
	r := v.MethodByName("Get").Call(nil)
	return r[0], r[1].Bool(), true
}

func join(name, tag string) string {
	if name == "" {
		return tag
	}
	return name + "." + tag
}

// Bare is a field's name with nothing in its brackets: "gids[].gid" for
// "gids[3].gid".
func Bare(name string) string {
	for from := 0; ; {
		i := strings.IndexByte(name[from:], '[')
		if i < 0 {
			return name
		}
		i += from
		j := strings.IndexByte(name[i:], ']')
		if j < 0 {
			return name
		}
		name = name[:i+1] + name[i+j:]
		from = i + 2
	}
}

// Index is what stands in the first brackets of a field, "" where it has none.
func Index(field string) string {
	_, rest, ok := strings.Cut(field, "[")
	if !ok {
		return ""
	}
	key, _, _ := strings.Cut(rest, "]")
	return key
}

// Compare orders fields so that gids[3] stands before gids[12].
func Compare(a, b string) int {
	x, err1 := strconv.Atoi(Index(a))
	y, err2 := strconv.Atoi(Index(b))
	if err1 == nil && err2 == nil && Bare(a) == Bare(b) {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func itoa(n int) string { return strconv.Itoa(n) }
