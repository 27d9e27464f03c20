package daemon

import (
	"context"
	"slices"
	"time"

	"quern/index"
	lang "quern/index/query"
	"quern/ipc"
	"quern/ipc/server"
	"quern/watcher"
)

const (
	// maxListed bounds the paths of one notice; more are a fresh start.
	maxListed = 1000
	// progressEvery is how often a subscriber hears of work that goes on.
	progressEvery = 500 * time.Millisecond
)

// subscription is what one subscriber knows. Its goroutine looks at what has
// changed since whenever the client has taken the last notice, so that a client
// that does not read is told once, of everything, and keeps nobody waiting.
type subscription struct {
	d        *Daemon
	tenant   *tenant
	number   uint64
	asked    ipc.SearchParams // which documents it is told of
	progress bool

	core  *core // the one that the generation is of
	known uint64
	epoch uint64
	told  string // the state that the last notice of progress gave; "" is rest
	at    time.Time
}

func (d *Daemon) subscribe(ctx context.Context, p ipc.SubscribeParams) (ipc.SubscribeResult, error) {
	c := d.coreOf(ctx)
	s := &subscription{d: d, tenant: d.tenantOf(ctx), core: c, asked: ipc.SearchParams{Folders: p.Folders, Path: p.Path}, progress: p.Progress == nil || *p.Progress}
	if _, err := s.wants(c); err != nil {
		return ipc.SubscribeResult{}, err
	}
	fresh := s.begin(p)
	var err error
	if s.number, err = server.Subscribe(ctx, s.run); err != nil {
		return ipc.SubscribeResult{}, err
	}
	return ipc.SubscribeResult{
		Subscription: s.number, Generation: c.base + s.known, FreshStart: fresh, Instance: d.instance,
	}, nil
}

func (d *Daemon) unsubscribe(ctx context.Context, p ipc.UnsubscribeParams) (ipc.Empty, error) {
	if !server.Unsubscribe(ctx, p.Subscription) {
		return ipc.Empty{}, ipc.Errorf(ipc.CodeNotFound, "this connection has no subscription %d", p.Subscription)
	}
	return ipc.Empty{}, nil
}

// begin sets what the subscriber knows: what it says, if that can be, and else
// what is now, which is a fresh start.
func (s *subscription) begin(p ipc.SubscribeParams) (fresh bool) {
	now := s.core.engine.Snapshot().Generation()
	s.known = now
	_, s.epoch, _ = s.core.changes.since(now)
	if p.Since == nil {
		return false
	}
	since := *p.Since - s.core.base
	if _, _, ok := s.core.changes.since(since); !ok || *p.Since < s.core.base || since > now ||
		p.Instance != "" && p.Instance != s.d.instance {
		return true
	}
	s.known = since
	return false
}

// run tells the client until ctx is done or the client is gone.
func (s *subscription) run(ctx context.Context, send server.Send) {
	defer s.d.idle.begin()()
	defer s.d.tenants.stay(s.tenant)()
	for {
		news := s.tenant.news.next()
		if s.tell(ctx, send) != nil {
			return
		}
		if !s.wait(ctx, news) {
			return
		}
	}
}

// wait returns true when there may be something to tell.
func (s *subscription) wait(ctx context.Context, news <-chan struct{}) bool {
	var tick <-chan time.Time
	if s.told != "" {
		t := time.NewTimer(progressEvery)
		defer t.Stop()
		tick = t.C
	}
	select {
	case <-news:
		return true
	case <-tick:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *subscription) tell(ctx context.Context, send server.Send) error {
	c, ok, err := s.changed(ctx)
	if err != nil {
		return err
	}
	if ok {
		if err := send(ipc.MethodChanged, c); err != nil {
			return err
		}
	}
	if p, ok := s.working(); ok {
		return send(ipc.MethodProgress, p)
	}
	return nil
}

// changed is the notice of what the subscriber does not know yet.
func (s *subscription) changed(ctx context.Context) (notice ipc.Changed, ok bool, err error) {
	c := s.tenant.core.Load()
	now := c.engine.Snapshot().Generation()
	out := ipc.Changed{Subscription: s.number, Generation: c.base + now, Added: []string{}, Modified: []string{}, Removed: []string{}}
	changes, epoch, ok := c.changes.since(s.known)
	fresh := !ok || c != s.core || epoch != s.epoch
	s.core, s.epoch = c, epoch
	if fresh {
		s.known, out.FreshStart = now, true
		return out, true, nil
	}
	if len(changes) == 0 {
		return out, false, nil
	}
	s.known = changes[len(changes)-1].generation
	out.Generation = c.base + s.known
	changes, withheld, err := s.chosen(ctx, c, changes)
	if err != nil {
		return out, false, err
	}
	if withheld || !fold(changes, &out) {
		out.Added, out.Modified, out.Removed, out.FreshStart = []string{}, []string{}, []string{}, true
	}
	return out, out.FreshStart || len(out.Added)+len(out.Modified)+len(out.Removed) > 0, nil
}

// wants is the test for the documents that the subscriber has asked for, nil for all.
func (s *subscription) wants(c *core) (func(*index.DocumentInfo) bool, error) {
	tests, err := filters(c, s.asked, &lang.Query{}, time.Now())
	if err != nil {
		return nil, err
	}
	return tests.keep(), nil
}

// chosen are the changes of the documents that the subscriber has asked for. Those in
// a folder that is not to be told of at present are withheld: the subscriber has to
// ask what there is instead.
func (s *subscription) chosen(ctx context.Context, c *core, changes []documentChange) (kept []documentChange, withheld bool, err error) {
	keep, err := s.wants(c)
	if err != nil {
		return nil, false, err
	}
	absent, err := c.absentees(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, d := range changes {
		switch {
		case keep != nil && !keep(&index.DocumentInfo{Path: d.path, Folder: d.folder, Rel: d.rel}):
		case absent[c.folderOf(d.path)]:
			withheld = true
		default:
			kept = append(kept, d)
		}
	}
	return kept, withheld, nil
}

// fold makes one change of all those of a path, and lists them; false means that
// there are too many.
func fold(changes []documentChange, out *ipc.Changed) bool {
	type fate struct{ before, after bool } // is there a document?
	fates := map[string]fate{}
	for _, c := range changes {
		f, ok := fates[c.path]
		if !ok {
			f.before = c.kind != added
		}
		f.after = c.kind != removed
		fates[c.path] = f
	}
	if len(fates) > maxListed {
		return false
	}
	for path, f := range fates {
		list := &out.Modified
		switch {
		case !f.before && !f.after:
			continue
		case !f.before:
			list = &out.Added
		case !f.after:
			list = &out.Removed
		}
		*list = append(*list, ipc.EncodePath(path))
	}
	for _, list := range [][]string{out.Added, out.Modified, out.Removed} {
		slices.Sort(list)
	}
	return true
}

// working is the notice of progress, if there is any or was at the last look.
func (s *subscription) working() (ipc.ProgressNotice, bool) {
	if !s.progress {
		return ipc.ProgressNotice{}, false
	}
	c := s.tenant.core.Load()
	watch := c.state()
	state := stateOf(watch)
	if state == s.told && time.Since(s.at) < progressEvery || state == ipc.StateQuiescent && s.told == "" {
		return ipc.ProgressNotice{}, false
	}
	if s.told, s.at = state, time.Now(); state == ipc.StateQuiescent {
		s.told = ""
	}
	return ipc.ProgressNotice{
		Subscription: s.number, State: state, Pending: watch.Pending, Progress: c.files.progress(watch.Pending),
	}, true
}

// stateOf is the daemon's state in the protocol's words.
func stateOf(w watcher.State) string {
	switch {
	case w.Scanning:
		return ipc.StateScanning
	case w.Pending > 0:
		return ipc.StateIndexing
	}
	return ipc.StateQuiescent
}
