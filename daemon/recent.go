package daemon

import (
	"cmp"
	"context"
	"slices"

	"quern/index"
	"quern/ipc"
)

// recent lists the documents that were changed lately.
func (d *Daemon) recent(ctx context.Context, p ipc.RecentParams) (ipc.RecentResult, error) {
	like := ipc.SearchParams{
		Folders: p.Folders, Path: p.Path, Types: p.Types, Since: p.Since, Before: p.Before,
		K: p.K, Offset: p.Offset, Sync: p.Sync, SyncTimeoutMS: p.SyncTimeoutMS,
	}
	options, err := d.searchOptions(like)
	if err != nil {
		return ipc.RecentResult{}, err
	}
	c, stale, err := d.fresh(ctx, like)
	if err != nil {
		return ipc.RecentResult{}, err
	}
	choose, err := chosen(ctx, c, like)
	if err != nil {
		return ipc.RecentResult{}, err
	}
	pending, snapshot := c.state().Pending, c.engine.Snapshot()
	found, total := newest(ctx, snapshot, choose, options.Offset+options.K)
	if err := context.Cause(ctx); err != nil {
		return ipc.RecentResult{}, err
	}
	out := ipc.RecentResult{
		Generation: c.base + snapshot.Generation(), Total: total, Pending: pending, Stale: stale, Documents: []ipc.Document{},
	}
	for _, doc := range found[min(options.Offset, len(found)):] {
		out.Documents = append(out.Documents, wireDocument(doc))
	}
	return out, nil
}

// newest are the latest n documents that are chosen, the newest first, and how
// many there are in all.
func newest(ctx context.Context, s *index.Snapshot, choose func(*index.DocumentInfo) bool, n int) (found []*index.DocumentInfo, total int) {
	cut := func() {
		slices.SortFunc(found, func(a, b *index.DocumentInfo) int {
			return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Path, b.Path))
		})
		found = found[:min(n, len(found))]
	}
	for doc := range s.Documents() {
		if choose != nil && !choose(doc) {
			continue
		}
		if total++; total%1024 == 0 && ctx.Err() != nil {
			break
		}
		if found = append(found, doc); len(found) >= 2*n+1024 {
			cut()
		}
	}
	cut()
	return found, total
}

func wireDocument(doc *index.DocumentInfo) ipc.Document {
	return ipc.Document{
		Path: ipc.EncodePath(doc.Path), Folder: doc.Folder, Rel: ipc.EncodePath(doc.Rel), Type: doc.Type, Title: doc.Title,
		Modified: timestamp(doc.Modified), Size: doc.Size, Passages: doc.Passages,
	}
}
