package doctor

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// damage is one change of one fact of a snapshot, which undo takes back.
type damage struct {
	path string // "Devices[0].Ports[0].State"
	kind string // the path without what is in brackets
	how  string // "missing", "zero", "minimum", "maximum", "sibling"
	do   func()
	undo func()
}

// damages lists what can be done to the facts of a snapshot. Of the elements of
// a list only the first few are damaged, and all where all is set: the others
// are alike.
func damages(s *facts.Snapshot, all bool) []damage {
	w := &walker{all: all, near: settings.Netdevs(s)}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if slices.Contains([]string{"Schema", "Origin", "Taken", "Interval", "Elapsed", "Sources", "Gaps", "Measured", "Ladders", "Peer"}, name) {
			continue // How it was read and what probes add, which are no facts of this host.
		}
		w.walk(v.Field(i), name, nil)
	}
	return w.found
}

type walker struct {
	all   bool
	near  map[string]bool // the netdevs of RDMA
	found []damage
}

func (w *walker) add(path, how string, v, to reflect.Value) {
	hows, listed := perLook[kindOf(path)]
	if reflect.DeepEqual(v.Interface(), to.Interface()) || listed && !slices.Contains(hows, how) {
		return
	}
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	w.found = append(w.found, damage{path, kindOf(path), how, func() { v.Set(to) }, func() { v.Set(old) }})
}

func kindOf(path string) string {
	var b strings.Builder
	depth := 0
	for _, c := range path {
		switch c {
		case '[':
			depth++
			b.WriteString("[]")
		case ']':
			depth--
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}

var counterType = reflect.TypeFor[facts.Counter]()

func isOpt(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Opt[") && t.NumField() == 2
}

// open makes an unexported field settable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// perLook are facts that differ between any two looks at one sound host: which
// process looks, numbers that the kernel gives out anew at each boot, times,
// and how much is in use. Checks show them or find other facts by them. Another
// value of them is no damage; that too much is in use is, and stays in. The
// data rate follows from width and speed, which are damaged by themselves.
var perLook = map[string][]string{
	"Self.PID": nil, "Self.VmPin": nil, "Self.VmLck": nil, "Self.Unit": nil, "Self.Cgroup": nil,
	"Processes[].PID": nil, "Processes[].VmLck": nil, "Processes[].Cgroup": nil, "Processes[].Files": {"maximum"},
	"Netdevs[].Index": nil, "Devices[].Ports[].DataRate": nil, "Devices[].Index": nil, "Host.Uptime": nil, "Memory.SwapFree": nil,
	"Memory.Available": {"zero", "missing"}, "Devices[].Resources[].Current": nil,
}

// walk damages a value. Siblings are the same value of other elements.
func (w *walker) walk(v reflect.Value, path string, siblings []reflect.Value) {
	switch {
	case v.Type() == counterType:
		w.counter(v, path, siblings)
		return
	case isOpt(v.Type()):
		if !v.FieldByName("ok").Bool() {
			return // What is not there cannot be damaged.
		}
		w.add(path, "missing", v, reflect.Zero(v.Type()))
		var inner []reflect.Value
		for _, s := range siblings {
			if s.FieldByName("ok").Bool() {
				inner = append(inner, open(s.FieldByName("v")))
			}
		}
		w.walk(open(v.FieldByName("v")), path, inner)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if l, ok := v.Interface().(facts.Limit); ok && meaningless(l, v.Type().Field(i).Name) {
				continue
			}
			var inner []reflect.Value
			for _, s := range siblings {
				inner = append(inner, s.Field(i))
			}
			w.walk(v.Field(i), path+"."+v.Type().Field(i).Name, inner)
		}
	case reflect.Slice:
		w.slice(v, path, siblings)
	case reflect.Array:
		w.walk(v.Index(3), path+"[3]", nil) // The priority that RoCE rides.
	case reflect.Map:
		w.table(v, path, siblings)
	default:
		w.scalar(v, path, siblings)
	}
}

// foreign reports whether an element of a list belongs to a netdev that has
// nothing to do with RDMA, such as the loopback.
func (w *walker) foreign(list string, v reflect.Value) bool {
	field := map[string]string{"Netdevs": "Name", "Neighbors": "Netdev", "Routes": "Netdev"}[list]
	return field != "" && !w.near[v.FieldByName(field).String()]
}

// meaningless reports whether a limit's number does not count, since there is
// no limit.
func meaningless(l facts.Limit, field string) bool {
	return field == "Soft" && l.SoftUnlimited || field == "Hard" && l.HardUnlimited
}

// fewElements is how many elements of a list are damaged.
const fewElements = 1

func (w *walker) slice(v reflect.Value, path string, siblings []reflect.Value) {
	done := 0
	for i := range v.Len() {
		if w.foreign(path, v.Index(i)) {
			continue
		}
		if done++; !w.all && done > fewElements {
			return
		}
		rest := reflect.MakeSlice(v.Type(), 0, v.Len())
		rest = reflect.AppendSlice(rest, v.Slice(0, i))
		rest = reflect.AppendSlice(rest, v.Slice(i+1, v.Len()))
		if v.Len() == 1 {
			rest = reflect.Zero(v.Type())
		}
		at := fmt.Sprintf("%s[%d]", path, i)
		w.add(at, "missing", v, rest)
		if v.Type().Elem().Kind() == reflect.String {
			continue // A list of names is judged as a whole.
		}
		var inner []reflect.Value
		for j := range v.Len() {
			if j != i {
				inner = append(inner, v.Index(j))
			}
		}
		w.walk(v.Index(i), at, inner)
	}
	_ = siblings
}

// table damages the entries of a map, of which a copy is put in its place.
func (w *walker) table(m reflect.Value, path string, siblings []reflect.Value) {
	for _, key := range sortedMapKeys(m) {
		at := fmt.Sprintf("%s[%s]", path, key)
		var others []reflect.Value
		for _, s := range siblings {
			if e := s.MapIndex(key); s.Len() > 0 && e.IsValid() {
				c := reflect.New(e.Type()).Elem()
				c.Set(e)
				others = append(others, c)
			}
		}
		entry := reflect.New(m.Type().Elem()).Elem()
		entry.Set(m.MapIndex(key))
		inner := &walker{all: w.all}
		inner.walk(entry, at, others)
		old := reflect.New(entry.Type()).Elem()
		old.Set(entry)
		for _, d := range inner.found {
			w.found = append(w.found, damage{d.path, d.kind, d.how,
				func() { d.do(); m.SetMapIndex(key, entry) },
				func() { d.undo(); m.SetMapIndex(key, old) }})
		}
		w.found = append(w.found, damage{at, kindOf(at), "missing",
			func() { m.SetMapIndex(key, reflect.Value{}) }, func() { m.SetMapIndex(key, old) }})
	}
}

func sortedMapKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

// counter damages how much a counter grew between the samples.
func (w *walker) counter(v reflect.Value, path string, siblings []reflect.Value) {
	c := v.Interface().(facts.Counter)
	first, ok := c.First.Get()
	delta, both := c.Delta()
	if !ok {
		return
	}
	if !strings.HasSuffix(path, "]") { // Entries of maps are taken away there.
		w.add(path, "missing", v, reflect.ValueOf(facts.Counter{}))
	}
	if !both {
		return
	}
	grown := func(by uint64) reflect.Value {
		return reflect.ValueOf(facts.Counter{First: c.First, Last: facts.Some(first + by)})
	}
	if traffic(path) {
		return // Any amount of traffic is in order.
	}
	w.add(path, "zero", v, grown(0))
	w.add(path, "maximum", v, grown(math.MaxInt32))
	for _, s := range siblings {
		if d, ok := s.Interface().(facts.Counter).Delta(); ok && d != delta {
			w.add(path, "sibling", v, grown(d))
			break
		}
	}
}

// traffic reports whether a counter counts what goes well: packets, bytes,
// operations, mended bits. Checks read them to tell a busy port from an idle
// one.
func traffic(path string) bool {
	_, name, _ := strings.Cut(path[strings.LastIndex(path, "."):], "[")
	name = strings.TrimSuffix(name, "]")
	if strings.Contains(path, ".Stats[") {
		return true // The kernel's own, of which only the packets are read.
	}
	for _, at := range []counters.Place{counters.Port, counters.Device, counters.Ethtool} {
		if c, _, ok := counters.Lookup(at, name); ok {
			return c.Class == counters.Traffic || strings.Contains(strings.ToLower(name), "corr")
		}
	}
	return strings.Contains(name, "TOTAL") // A sum of others.
}

// extremes are the ends of what a text can be, where it is one of a list.
var extremes = map[string][2]string{
	"State": {"NOP", "DOWN"}, "StateLast": {"DOWN", "DOWN"}, "OperState": {"unknown", "down"}, "PhysState": {"Sleep", "Disabled"},
}

func (w *walker) scalar(v reflect.Value, path string, siblings []reflect.Value) {
	try := func(how string, to any) { w.add(path, how, v, reflect.ValueOf(to).Convert(v.Type())) }
	switch v.Kind() {
	case reflect.Bool:
		try("zero", false)
		try("maximum", true)
	case reflect.String:
		if ends, ok := extremes[path[strings.LastIndex(path, ".")+1:]]; ok && !strings.HasPrefix(path, "Neighbors") {
			try("minimum", ends[0])
			try("maximum", ends[1])
			break
		}
		if strings.HasPrefix(path, "Neighbors") && strings.HasSuffix(path, ".State") {
			try("maximum", "FAILED")
			break
		}
		try("zero", "")
	case reflect.Int, reflect.Int64:
		try("zero", 0)
		try("minimum", -1)
		try("maximum", math.MaxInt32)
	case reflect.Uint8:
		try("zero", 0)
		try("maximum", math.MaxUint8)
	case reflect.Uint16:
		try("zero", 0)
		try("maximum", math.MaxUint16)
	case reflect.Uint32:
		try("zero", 0)
		try("maximum", uint32(math.MaxUint32))
	case reflect.Uint64:
		try("zero", 0)
		try("maximum", uint64(math.MaxUint64))
	case reflect.Float64:
		try("zero", 0)
		try("maximum", math.MaxFloat32)
	default:
		panic("no damage for " + path + ", a " + v.Kind().String())
	}
	for _, s := range siblings {
		if !reflect.DeepEqual(s.Interface(), v.Interface()) {
			w.add(path, "sibling", v, s)
			return
		}
	}
}
