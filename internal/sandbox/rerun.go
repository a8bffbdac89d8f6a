package sandbox

import (
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// mark is the variable by which a process knows that it is the second run, and
// what holds for it.
const mark = "RDMADOCTOR_RESTRICTED"

// Rerun puts the whole process under Restrict. Landlock restricts a thread and
// what comes from it, and a Go program has many threads before main begins: so
// the program restricts one thread and runs itself again from there, with the
// same arguments and the same process ID. The first run does not return where
// that succeeds. The second returns what holds. Call it before anything was
// begun or opened that must live on.
func Rerun(args, environ []string) (Report, []string) {
	prefix := mark + "="
	if i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, prefix) }); i >= 0 {
		var r Report
		if err := json.Unmarshal([]byte(strings.TrimPrefix(environ[i], prefix)), &r); err != nil {
			r.lacks("Landlock", err)
		}
		_ = os.Unsetenv(mark) // What is started from here on is no second run.
		return r, slices.Delete(slices.Clone(environ), i, i+1)
	}
	runtime.LockOSThread() // Not unlocked: the thread keeps the restriction.
	r := Restrict()
	text, err := json.Marshal(r)
	if err != nil {
		r.lacks("Landlock for every thread", err)
		return r, environ
	}
	err = syscall.Exec("/proc/self/exe", args, append(slices.Clone(environ), prefix+string(text)))
	r.Landlock = 0 // This thread alone is restricted.
	r.lacks("Landlock for every thread", err)
	return r, environ
}
