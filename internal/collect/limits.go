package collect

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// ownLimits reads the resource limits of the examining process and the rules
// that give them to logins, limits.conf(5).
var _ = register(Collector{
	Source: facts.ProcLimits,
	Read: func(r *Reader) {
		collectSelf(r)
		collectLimitRules(r)
	},
})

// collectSelf reads /proc/self. A reading child answers for itself there: it
// has the credentials, limits and cgroup of the process that started it. In a
// tree there is no such process.
func collectSelf(r *Reader) {
	b := r.batch()
	p := &r.Snap.Self
	b.add(hostio.Op{Kind: hostio.System, Name: "ids"}, func(res hostio.Result) {
		var ids hostio.IDs
		if err := res.Err(); err != nil {
			r.Gap("ids", err)
			return
		}
		if json.Unmarshal(res.Data, &ids) != nil {
			r.Malformed("ids", res.Text(), "user and group numbers")
			return
		}
		p.PID, p.UID, p.User = ids.PID, facts.Some(ids.UID), ids.User
	})
	const dir = "/proc/self/"
	b.file(dir+"limits", func(text string) { setLimits(r, p, dir+"limits", text) })
	b.file(dir+"status", func(text string) { setStatus(r, p, dir+"status", text) })
	b.file(dir+"cgroup", func(text string) { setCgroup(p, text) })
	askVariables(b, p, dir+"environ")
	b.run()
	p.Comm = "" // A reading child's name says nothing.
	if p.Limits != nil {
		r.Have()
	}
}

// setLimits takes over /proc/PID/limits.
func setLimits(r *Reader, p *facts.Process, path, text string) {
	limits, err := parseLimits(text)
	if err != nil {
		r.Malformed(path, text, err.Error())
		return
	}
	p.Limits = limits
}

// limitNames are the lines of /proc/PID/limits that are kept.
var limitNames = map[string]string{"Max locked memory": "memlock", "Max open files": "nofile"}

// parseLimits reads /proc/PID/limits (proc_pid_limits): a name padded to 25
// columns, soft and hard limit, unit.
func parseLimits(s string) (map[string]facts.Limit, error) {
	found := map[string]facts.Limit{}
	for line := range strings.Lines(s) {
		for name, key := range limitNames {
			rest, ok := strings.CutPrefix(line, name)
			if !ok {
				continue
			}
			f := strings.Fields(rest)
			if len(f) < 2 {
				return nil, form("soft and hard limit")
			}
			soft, softInf, err1 := parseLimit(f[0])
			hard, hardInf, err2 := parseLimit(f[1])
			if err1 != nil || err2 != nil {
				return nil, form(`numbers or "unlimited"`)
			}
			found[key] = facts.Limit{Soft: soft, Hard: hard, SoftUnlimited: softInf, HardUnlimited: hardInf}
		}
	}
	if len(found) == 0 {
		return nil, form("lines of NAME SOFT HARD UNIT")
	}
	return found, nil
}

func parseLimit(s string) (v uint64, unlimited bool, err error) {
	if s == "unlimited" {
		return 0, true, nil
	}
	v, err = parseUint(s)
	return v, false, err
}

// collectLimitRules reads limits.conf and limits.d in the order in which
// pam_limits applies them: a later rule for the same domain replaces an
// earlier one.
func collectLimitRules(r *Reader) {
	const main, dropins = "/etc/security/limits.conf", "/etc/security/limits.d"
	files := []string{main}
	lists, reads := r.batch(), r.batch()
	lists.dirIf(dropins, func(names []string) {
		for _, name := range names { // Sorted, as glob(3) in the C locale gives them.
			if path.Ext(name) == ".conf" {
				files = append(files, dropins+"/"+name)
			}
		}
	})
	lists.run()
	for _, file := range files {
		reads.fileIf(file, func(text string) {
			r.Have()
			rules, bad := parseLimitRules(file, text)
			if bad != "" {
				r.Malformed(file, strings.TrimSpace(bad), "DOMAIN TYPE ITEM VALUE")
			}
			r.Snap.Limits = append(r.Snap.Limits, rules...)
		})
	}
	reads.run()
}

// parseLimitRules returns the rules about memlock and nofile. Bad is the first
// line in another form than limits.conf(5) wants; pam_limits passes over such
// lines.
func parseLimitRules(file, text string) (rules []facts.LimitRule, bad string) {
	number := 0
	for line := range strings.Lines(strings.ToValidUTF8(text, "�")) {
		number++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			continue
		case len(f) == 2 && f[1] == "-": // No limits at all for this domain.
			for _, item := range []string{"memlock", "nofile"} {
				rules = append(rules, facts.LimitRule{File: file, Line: number, Domain: f[0], Type: "-", Item: item, Value: "unlimited"})
			}
			continue
		case len(f) != 4 || f[1] != "-" && f[1] != "soft" && f[1] != "hard":
			if bad == "" {
				bad = line
			}
			continue
		}
		if item := strings.ToLower(f[2]); item == "memlock" || item == "nofile" {
			rules = append(rules, facts.LimitRule{File: file, Line: number, Domain: f[0], Type: f[1], Item: item, Value: strings.ToLower(f[3])})
		}
	}
	return rules, bad
}
