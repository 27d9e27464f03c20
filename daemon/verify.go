package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"quern/index"
	"quern/ipc"
)

// verify proves the index: in itself, and against the bytes of every file that is
// or should be in it. Changes that come meanwhile are no differences.
func (d *Daemon) verify(ctx context.Context, p ipc.VerifyParams) (ipc.VerifyResult, error) {
	c, err := d.barrier(ctx)
	if err != nil {
		return ipc.VerifyResult{}, closing(err)
	}
	out, err := d.compare(ctx, c)
	if err != nil || !p.Repair || len(out.Differences) == 0 && out.Index == "" {
		return out, err
	}
	for _, f := range out.Differences {
		path, err := ipc.DecodePath(f.Path)
		if err != nil {
			return out, err
		}
		defer c.reread(path)()
	}
	if out.Index != "" {
		for _, f := range c.list() {
			defer c.reread(f.Path)()
		}
	}
	if c, err = d.barrier(ctx); err != nil {
		return out, closing(err)
	}
	again, err := d.compare(ctx, c)
	if err != nil {
		return out, err
	}
	out.Generation, out.Repaired = again.Generation, len(again.Differences) == 0 && again.Index == ""
	return out, nil
}

// compare looks once.
func (d *Daemon) compare(ctx context.Context, c *core) (ipc.VerifyResult, error) {
	snapshot := c.engine.Snapshot()
	out := ipc.VerifyResult{
		Generation: c.base + snapshot.Generation(), Passages: snapshot.Stats().Passages, Differences: []ipc.FileStatus{},
	}
	if err := snapshot.Verify(); err != nil {
		out.Index = err.Error()
	}
	differs := func(path, reason string) {
		if !c.watch.Pending(path) {
			out.Differences = append(out.Differences, ipc.FileStatus{Path: ipc.EncodePath(path), State: ipc.FileFailed, Reason: reason})
		}
	}
	members, expected := map[string]int{}, map[string]int{} // by the file's path
	for doc := range snapshot.Documents() {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		out.Documents++
		if reason := difference(c, doc); reason != "" {
			differs(fileOf(doc), reason)
		}
		members[fileOf(doc)]++
		if f, ok := parseFingerprint(doc.Fingerprint); ok && f.owner == 0 {
			expected[doc.Path] = f.members
		}
	}
	for path, n := range expected {
		if members[path] != n+1 {
			differs(path, fmt.Sprintf("%d of its %d members are in the index", members[path]-1, n))
		}
	}
	err := c.eachFile(ctx, func(path string) {
		_, indexed := snapshot.Document(path)
		if _, refused := c.files.get(path); !indexed && !refused {
			differs(path, "not in the index")
		}
	})
	return out, err
}

// difference says how a document's file differs from what it was made from, ""
// if it does not.
func difference(c *core, doc *index.DocumentInfo) string {
	file := fileOf(doc)
	f := c.folderOf(file)
	if f == nil {
		return "in the index, but in no folder"
	}
	if _, ok := c.engine.Snapshot().Document(file); !ok && file != doc.Path {
		return "in the index without the file that it is in"
	}
	data, _, err := c.readFile(file, f.MaxFileSize, f.FollowSymlinks)
	note, ok := parseFingerprint(doc.Fingerprint)
	switch {
	case errors.Is(err, errVanished) && suspended(c, f):
		return "" // kept until the folder is back
	case err != nil:
		return "in the index, but the file: " + reasonOf(err)
	case !ok || note.digest != xxh3.Hash128(data):
		return "the file has other content"
	}
	return ""
}

func suspended(c *core, f *folder) bool { return !readable(c.watch.State())[f.Path] }

// eachFile visits the regular files that the rules of the folders let through,
// each under its innermost folder.
func (c *core) eachFile(ctx context.Context, visit func(path string)) error {
	for _, f := range c.list() {
		err := filepath.WalkDir(f.Path, func(path string, e fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return nil // what cannot be read is not indexed either
			}
			rel, _ := relativeTo(f.Path, path)
			inner := c.folderOf(path) != f
			switch {
			case e.IsDir() && rel != "." && (inner || !f.filter.Dir(rel)):
				return fs.SkipDir
			case e.Type().IsRegular() && !inner && f.filter.File(rel) && c.owned(path):
				visit(path)
			}
			return nil
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// owned reports whether the file is one that folders may hold: those of the
// daemon itself are none.
func (c *core) owned(path string) bool {
	_, own := relativeTo(filepath.Dir(filepath.Dir(c.dir)), path)
	return !own
}
