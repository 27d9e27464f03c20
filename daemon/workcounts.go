package daemon

import "sync/atomic"

// workCounts count what was done about files that the watcher reported.
type workCounts struct {
	extracted atomic.Int64 // read and their text found
	moved     atomic.Int64 // read, and found to be a document under another name
	unchanged atomic.Int64 // not read: the index had them as they are
}

// addTo adds the counts to those of the watcher, by name.
func (w *workCounts) addTo(counters map[string]int64) {
	counters["extracted"] = w.extracted.Load()
	counters["moved"] = w.moved.Load()
	counters["unchanged"] = w.unchanged.Load()
}
