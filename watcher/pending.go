package watcher

import "path/filepath"

// Pending reports whether a change of the path has been seen and is not Done.
func (w *Watcher) Pending(path string) bool {
	path = filepath.Clean(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue.items[path] != nil || w.queue.out[path] {
		return true
	}
	g := w.settler.dirs[parentOf(path)]
	return g != nil && (g.all != nil || g.names[path] != nil)
}
