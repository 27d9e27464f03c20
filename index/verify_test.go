package index

import (
	"maps"
	"strings"
	"testing"

	"quern/index/segment/vfs"
)

// TestVerifyNotices tells Verify lies of every kind: each is named.
func TestVerifyNotices(t *testing.T) {
	e := openEngine(t, durableOptions(vfs.NewMem()))
	apply(t, e, billing...)
	must(t, e.Flush(t.Context()))
	apply(t, e, remove("/team.txt"), putText("/more.txt", "More billing, in several words.\n\nAnd more of them."))
	must(t, e.Snapshot().Verify())
	for name, lie := range map[string]func(s *Snapshot){
		"totals":  func(s *Snapshot) { s.passages++ },
		"folders": func(s *Snapshot) { s.folders = maps.Clone(s.folders); s.folders["help"] = FolderStats{} },
		"has df": func(s *Snapshot) {
			x := &edit{Snapshot: s, txn: 1 << 60, w: &writerState{}}
			s.stats.edit(x.txn, 0).df++
		},
		"counted": func(s *Snapshot) { // a passage is dead that its document still has
			s.views = append([]view(nil), s.views...)
			s.views[0].kill(1<<60, 0)
		},
		"lacks passages": func(s *Snapshot) { // … and all is counted so
			s.views = append([]view(nil), s.views...)
			s.folders = maps.Clone(s.folders)
			x := &edit{Snapshot: s, txn: 1 << 60, w: &writerState{}}
			x.killAt(0, 0)
		},
	} {
		s := *e.Snapshot()
		lie(&s)
		if err := s.Verify(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: Verify says %v", name, err)
		}
		must(t, e.Snapshot().Verify())
	}
}
