package collect

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// privateVersion begins the version of the symbols that libibverbs has for its
// providers only (libibverbs.map.in, IBVERBS_PRIVATE_@IBVERBS_PABI_VERSION@).
const privateVersion = "IBVERBS_PRIVATE_"

// collectPrivate reads which private version libibverbs defines, and which the
// providers of the devices need: the dynamic loader takes no other.
func collectPrivate(r *Reader) {
	wanted := map[string]bool{}
	for i := range r.Snap.Devices {
		if name, ok := r.Snap.Devices[i].Provider.Get(); ok {
			wanted["lib"+name] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	b := r.batch()
	for _, file := range r.Snap.Userland.Libibverbs {
		if path.Base(file) == "libibverbs.so.1" {
			askPrivate(b, file, func(v hostio.VerbsVersions) []string { return v.Defines })
		}
	}
	for _, file := range r.Snap.Userland.Providers {
		if name, _, _ := strings.Cut(path.Base(file), "-rdmav"); wanted[name] {
			askPrivate(b, file, func(v hostio.VerbsVersions) []string { return v.Needs })
		}
	}
	b.run()
}

func askPrivate(b *batch, file string, pick func(hostio.VerbsVersions) []string) {
	b.add(hostio.Op{Kind: hostio.SymbolVersions, Name: file}, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			if !b.r.missing(err) { // A copied tree and older recordings hold names only.
				b.r.Gap(file, err)
			}
			return
		}
		var v hostio.VerbsVersions
		if json.Unmarshal(res.Data, &v) != nil {
			b.r.Malformed(file, string(res.Data), "an answer of this program's own form")
			return
		}
		for _, version := range pick(v) {
			if strings.HasPrefix(version, privateVersion) {
				if b.r.Snap.Userland.Private == nil {
					b.r.Snap.Userland.Private = map[string]string{}
				}
				b.r.Snap.Userland.Private[file] = text(version)
			}
		}
	})
}
