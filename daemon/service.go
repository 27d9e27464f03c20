package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"quern/config"
	"quern/index"
	"quern/ipc"
	"quern/ipc/schema"
	"quern/ipc/server"
	"quern/watcher"
)

const (
	// maxHits bounds k.
	maxHits = 1000
	// maxProblems bounds the files that a status names.
	maxProblems = 1000
	// defaultSync is how long sync waits when the client names no time.
	defaultSync = 10 * time.Second
)

// register connects the protocol's methods.
func (d *Daemon) register(s *server.Server) {
	handle(d, s, ipc.MethodHello, d.hello(s), server.ReadOnly)
	handle(d, s, ipc.MethodSearch, d.searchInSession, server.ReadOnly)
	handle(d, s, ipc.MethodPassages, d.passages, server.ReadOnly)
	handle(d, s, ipc.MethodSimilar, d.similar, server.ReadOnly)
	handle(d, s, ipc.MethodExplain, d.explain, server.ReadOnly)
	handle(d, s, ipc.MethodRecent, d.recent, server.ReadOnly)
	handle(d, s, ipc.MethodStatus, d.status, server.ReadOnly)
	handle(d, s, ipc.MethodSync, d.sync)
	handle(d, s, ipc.MethodSubscribe, d.subscribe)
	handle(d, s, ipc.MethodUnsubscribe, d.unsubscribe)
	handle(d, s, ipc.MethodReindex, d.reindex)
	handle(d, s, ipc.MethodReload, d.reload)
	handle(d, s, ipc.MethodFoldersList, d.foldersList, server.ReadOnly)
	handle(d, s, ipc.MethodFoldersAdd, d.foldersAdd)
	handle(d, s, ipc.MethodFoldersRemove, d.foldersRemove)
	handle(d, s, ipc.MethodShutdown, d.shutdown)
	handle(d, s, ipc.MethodVerify, d.verify)
	handle(d, s, ipc.MethodSchema, schemaOf(s), server.ReadOnly)
	handle(d, s, ipc.MethodPause, d.pauseIndexing)
	handle(d, s, ipc.MethodResume, d.resumeIndexing)
}

// handle registers a method, which is called for the one who asks, and keeps the idle
// timer informed.
func handle[P, R any](d *Daemon, s *server.Server, method string, h func(context.Context, P) (R, error), options ...server.MethodOption) {
	server.Handle(s, method, func(ctx context.Context, p P) (R, error) {
		defer d.idle.begin()()
		ctx, leave, err := d.admit(ctx, method)
		if err != nil {
			var none R
			return none, err
		}
		defer leave()
		return h(ctx, p)
	}, options...)
}

// hello introduces the daemon as the server s is.
func (d *Daemon) hello(s *server.Server) func(context.Context, ipc.HelloParams) (ipc.HelloResult, error) {
	return func(ctx context.Context, p ipc.HelloParams) (ipc.HelloResult, error) {
		d.log.Debug("hello", "client", p.Client, "version", p.Version)
		return ipc.HelloResult{
			Server: "quern", Version: d.opts.Version, Protocol: ipc.ProtocolVersion,
			Generation: d.coreOf(ctx).generation(), Instance: d.instance,
			Capabilities: []string{
				string(index.TFIDF), string(index.BM25), string(index.Best), string(index.Hybrid), "sync", "explain", "similar", "recent", "sessions", "subscribe", "schema", "http",
			},
			Limits: ipc.Limits{
				RequestBytes: ipc.MaxRequestBytes, InFlight: ipc.MaxInFlight,
				Connections: s.MaxConns(), Subscriptions: ipc.MaxSubscriptions, K: maxHits,
			},
		}, nil
	}
}

// searchInSession is search, which a newer one of its session cancels.
func (d *Daemon) searchInSession(ctx context.Context, p ipc.SearchParams) (ipc.SearchResult, error) {
	ctx, end := server.Supersede(ctx, p.Session)
	defer end()
	return d.search(ctx, p)
}

// schemaOf describes the methods of s.
func schemaOf(s *server.Server) func(context.Context, ipc.SchemaParams) (ipc.SchemaResult, error) {
	return func(_ context.Context, p ipc.SchemaParams) (ipc.SchemaResult, error) {
		out := ipc.SchemaResult{Protocol: ipc.ProtocolVersion, Methods: map[string]ipc.MessageSchemas{}}
		for name, types := range s.Methods() {
			if p.Method != "" && p.Method != name {
				continue
			}
			described, err := schema.Method(types.Params, types.Result)
			if err != nil {
				return out, err
			}
			out.Methods[name] = described
		}
		if p.Method != "" && len(out.Methods) == 0 {
			return out, ipc.Errorf(ipc.CodeNotFound, "there is no method %q", p.Method)
		}
		var err error
		if out.Notifications, err = schema.Notifications(); err != nil {
			return out, err
		}
		out.Error, err = schema.Of(reflect.TypeFor[ipc.Error]())
		return out, err
	}
}

func (d *Daemon) shutdown(context.Context, ipc.Empty) (ipc.Empty, error) {
	d.end()
	return ipc.Empty{}, nil
}

// barrier waits until every change that was complete before the call is
// searchable, and returns the core that saw them.
func (d *Daemon) barrier(ctx context.Context) (*core, error) {
	for {
		c := d.coreOf(ctx)
		cores := []*core{c}
		if c.user == nil {
			cores = d.ownCores()
		}
		err := d.refreshRules(cores...)
		if err == nil {
			err = c.sync(ctx)
		}
		if errors.Is(err, watcher.ErrClosed) && d.coreOf(ctx) != c {
			continue // another index took over meanwhile
		}
		return c, err
	}
}

func (d *Daemon) sync(ctx context.Context, p ipc.SyncParams) (ipc.SyncResult, error) {
	if p.TimeoutMS < 0 {
		return ipc.SyncResult{}, ipc.Errorf(ipc.CodeInvalidParams, "timeout_ms: %d is negative", p.TimeoutMS)
	}
	ctx, cancel := context.WithTimeout(ctx, milliseconds(p.TimeoutMS, defaultSync))
	defer cancel()
	c, err := d.barrier(ctx)
	if err != nil {
		return ipc.SyncResult{}, closing(err)
	}
	return ipc.SyncResult{Generation: c.generation()}, nil
}

// closing gives the errors of barriers their codes: of one that ends with the
// daemon, and of one that waits in vain.
func closing(err error) error {
	if errors.Is(err, errPaused) {
		return ipc.Errorf(ipc.CodeTimeout, "%v", err)
	}
	if errors.Is(err, watcher.ErrClosed) {
		return ipc.Errorf(ipc.CodeShuttingDown, "the daemon is shutting down")
	}
	return err
}

// milliseconds is a time that the client may leave open; more than a day is a day.
func milliseconds(ms int, otherwise time.Duration) time.Duration {
	if ms == 0 {
		return otherwise
	}
	return time.Duration(min(ms, 24*60*60*1000)) * time.Millisecond
}

// reindex reads the file, or every file below the directory, anew.
func (d *Daemon) reindex(ctx context.Context, p ipc.ReindexParams) (ipc.ReindexResult, error) {
	path, err := absolute(p.Path)
	if err != nil {
		return ipc.ReindexResult{}, err
	}
	c := d.coreOf(ctx)
	if c.folderOf(path) == nil {
		return ipc.ReindexResult{}, ipc.Errorf(ipc.CodeNotFound, "%s is in no folder (see: quern folders list)", path)
	}
	if _, known := c.engine.Snapshot().Document(path); !known {
		if _, err := c.lstat(path); err != nil {
			return ipc.ReindexResult{}, ipc.Errorf(ipc.CodeNotFound, "%s: %s", path, reasonOf(err))
		}
	}
	defer c.reread(path)()
	if c, err = d.barrier(ctx); err != nil {
		return ipc.ReindexResult{}, closing(err)
	}
	return ipc.ReindexResult{Generation: c.generation()}, nil
}

// absolute decodes a path of the protocol, which must be absolute.
func absolute(wire string) (string, error) {
	path, err := ipc.DecodePath(wire)
	if err != nil {
		return "", ipc.Errorf(ipc.CodeInvalidParams, "path: %v", err)
	}
	if !filepath.IsAbs(path) {
		return "", ipc.Errorf(ipc.CodeInvalidParams, "path: %q is not absolute", wire)
	}
	return filepath.Clean(path), nil
}

// passages are a document's passages as indexed.
func (d *Daemon) passages(ctx context.Context, p ipc.PassagesParams) (ipc.PassagesResult, error) {
	path, err := absolute(p.Path)
	if err != nil {
		return ipc.PassagesResult{}, err
	}
	c := d.coreOf(ctx)
	if err := c.mayTell(ctx, path); err != nil {
		return ipc.PassagesResult{}, err
	}
	doc, all, err := c.engine.Snapshot().Passages(path)
	if err != nil {
		return ipc.PassagesResult{}, d.notFound(ctx, c, path, err)
	}
	if p.N != nil {
		if *p.N < 0 || *p.N >= len(all) {
			return ipc.PassagesResult{}, ipc.Errorf(ipc.CodeNotFound, "%s has no passage %d: it has %d, from 0", path, *p.N, len(all))
		}
		all = all[*p.N : *p.N+1]
	}
	out := ipc.PassagesResult{
		Path: ipc.EncodePath(doc.Path), Folder: doc.Folder, Rel: ipc.EncodePath(doc.Rel), Type: doc.Type,
		Title: doc.Title, Author: doc.Author, Date: dateOf(doc), Origin: originOf(doc), Truncated: doc.Truncated, Modified: timestamp(doc.Modified), Generation: c.generation(), Passages: []ipc.Passage{},
	}
	for _, p := range all {
		out.Passages = append(out.Passages, ipc.Passage{
			Passage: p.N, Lines: p.Lines, Bytes: p.Bytes, Heading: headings(p.Heading), Page: p.Page, Terms: p.Length, Text: p.Text,
		})
	}
	return out, nil
}

// notFound adds to the index's word the reason why the file is not in it.
func (d *Daemon) notFound(ctx context.Context, c *core, path string, err error) error {
	if !errors.Is(err, index.ErrNotFound) {
		return err
	}
	s := d.fileStatus(ctx, c, path)
	if s.State == ipc.FileUnknown {
		return ipc.Errorf(ipc.CodeNotFound, "%s is not in the index: %s", path, s.Reason)
	}
	return ipc.Errorf(ipc.CodeNotFound, "%s is not in the index: %s: %s", path, s.State, s.Reason)
}

// headings makes an absent heading path an empty list, as the protocol has it.
func headings(h []string) []string {
	if h == nil {
		return []string{}
	}
	return h
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// fileStatus says what is known of one file, and why it is not in the index if
// it is not.
func (d *Daemon) fileStatus(ctx context.Context, c *core, path string) ipc.FileStatus {
	out := ipc.FileStatus{Path: ipc.EncodePath(path), State: ipc.FileUnknown}
	f := c.folderOf(path)
	if f != nil {
		out.Folder = f.Name
	}
	if f != nil && f.WhenAbsent != config.AbsentKeep && suspended(c, f) {
		out.Reason = "its folder is not there at present"
		return out
	}
	if doc, ok := c.engine.Snapshot().Document(path); ok {
		out.State, out.Passages = ipc.FileIndexed, doc.Passages
		out.Modified, out.Size = timestamp(doc.Modified), doc.Size
		switch {
		case doc.Truncated != "":
			out.Reason = "in part: " + doc.Truncated
		case doc.Passages == 0 && !c.hasMembers(doc):
			out.Reason = "there is no text in it"
		}
		if c.watch.Pending(fileOf(doc)) {
			out.State, out.Reason = ipc.FilePending, "it has changed; the earlier content is searchable"
		}
		return out
	}
	if p, ok := c.files.get(path); ok {
		out.State, out.Reason = p.state, p.reason
		return out
	}
	if f == nil {
		out.Reason = "in no folder (see: quern folders list)"
		return out
	}
	if state, reason := d.memberStatus(ctx, c, f, path); state != "" {
		out.State, out.Reason = state, reason
		return out
	}
	if c.watch.Pending(path) && c.mayKnow(path) {
		out.State, out.Reason = ipc.FilePending, "waiting to be read"
		return out
	}
	out.State, out.Reason = c.absence(f, path)
	return out
}

// absence says why a file of a folder is neither indexed nor waiting.
func (c *core) absence(f *folder, path string) (state, reason string) {
	rel, _ := relativeTo(f.Path, path)
	if reason := f.filter.Reason(rel); reason != "" {
		return ipc.FileSkipped, reason
	}
	info, err := c.lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ipc.FileUnknown, "no such file or directory"
	case err != nil:
		return ipc.FileUnknown, reasonOf(err)
	case info.IsDir():
		return ipc.FileUnknown, "a directory (to search it: quern search --folder " + path + ")"
	case info.Mode()&os.ModeSymlink != 0 && !f.FollowSymlinks:
		return ipc.FileSkipped, "a symbolic link (set follow_symlinks to follow it)"
	}
	return ipc.FilePending, "not seen yet"
}
