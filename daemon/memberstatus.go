package daemon

import (
	"context"
	"errors"
	"strings"

	"quern/index/extract"
	"quern/ipc"
)

// memberStatus says why what lies at path in a file of the folder is not in the
// index; the state is "" if path is none of a container. Such a file is read for it:
// what is not indexed of all archives would fill the memory.
func (d *Daemon) memberStatus(ctx context.Context, c *core, f *folder, path string) (state, reason string) {
	for at := 0; ; {
		i := strings.Index(path[at:], memberMark)
		if i < 0 {
			return "", ""
		}
		at += i + len(memberMark)
		file, name := path[:at-len(memberMark)], path[at:]
		if problem, ok := c.files.get(file); ok {
			return problem.state, file + ": " + problem.reason
		}
		if _, ok := c.engine.Snapshot().Document(file); ok {
			return d.memberOf(ctx, c, f, file, name)
		}
	}
}

// memberOf says why a member of an indexed file is not in the index.
func (d *Daemon) memberOf(ctx context.Context, c *core, f *folder, file, name string) (state, reason string) {
	data, _, err := c.readFile(file, f.MaxFileSize, f.FollowSymlinks)
	if err != nil {
		return ipc.FileUnknown, reasonOf(err)
	}
	doc, err := c.extract(ctx, file, data)
	if err != nil {
		return ipc.FileUnknown, reasonOf(err)
	}
	m, truncated := find(doc, name)
	switch {
	case m != nil && m.Document != nil:
		rel, _ := relativeTo(f.Path, file+memberMark+name)
		if reason := f.filter.Member(rel); reason != "" {
			return ipc.FileSkipped, reason
		}
		return ipc.FilePending, "waiting to be read"
	case m != nil && (errors.Is(m.Problem, extract.ErrBinary) || errors.Is(m.Problem, extract.ErrLimit)):
		return ipc.FileSkipped, m.Problem.Error()
	case m != nil:
		return ipc.FileFailed, m.Problem.Error()
	case truncated != "":
		return ipc.FileUnknown, "not among what was read of " + file + ": " + truncated
	}
	return ipc.FileUnknown, "not in " + file
}

// find finds a member by its name, which for one in another has both of theirs. If
// there is none, truncated is why it may be missing.
func find(d *extract.Document, name string) (m *extract.Member, truncated string) {
	for i := range d.Members {
		m := &d.Members[i]
		if m.Name == name {
			return m, ""
		}
		rest, ok := strings.CutPrefix(name, m.Name+memberMark)
		if ok && m.Document != nil {
			return find(m.Document, rest)
		}
	}
	return nil, d.Truncated
}
