package spawner

import (
	"sync"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// workers are what a spawner has running, by the number of its request.
type workers struct {
	mu    sync.Mutex
	procs map[int]worker.Process
}

// room reports whether one more may be started under this number.
func (w *workers) room(id int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.procs) < maxWorkers && w.procs[id] == nil
}

func (w *workers) add(id int, p worker.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.procs[id] = p
}

func (w *workers) drop(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.procs, id)
}

func (w *workers) signal(id int, s syscall.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.procs[id]; p != nil {
		_ = p.Signal(s)
	}
}

func (w *workers) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.procs {
		_ = p.Signal(syscall.SIGKILL)
	}
}
