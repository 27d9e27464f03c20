package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern/config"
	"quern/daemon/access"
	"quern/ipc"
	"quern/ipc/server"
	"quern/watcher"
)

const (
	// maxTenants bounds the users that have a core at a time.
	maxTenants = 32
	// tenantRest is how long a core is kept for a user who asks nothing.
	tenantRest = 30 * time.Minute
	// leastRest is how long a core is kept in any case: a subscription begins after the
	// request for it has ended.
	leastRest = time.Second
	// tenantSweep is how often it is looked for such.
	tenantSweep = time.Minute
)

// tenant is one for whom the daemon answers: its owner, or another user of the machine,
// who has a core of what that user may read, and nothing in common with the others.
// What cannot be read was never in that index, and so cannot show in an answer.
type tenant struct {
	user *access.User // nil: the owner
	core *atomic.Pointer[core]
	news *news
	dir  string // of its indexes

	// Guarded by tenants.mu.
	active int       // requests and subscriptions under way
	since  time.Time // when the last of them ended
}

// tenants are the users with a core, by their keys.
type tenants struct {
	mu   sync.Mutex
	live map[string]*tenant
}

// stay keeps a user's core until the function returned is called.
func (ts *tenants) stay(t *tenant) (leave func()) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.stayLocked(t)
}

func (ts *tenants) stayLocked(t *tenant) (leave func()) {
	t.active++
	return sync.OnceFunc(func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		t.active--
		t.since = time.Now()
	})
}

// find is the user's tenant, which stays, or nil.
func (ts *tenants) find(key string) (*tenant, func()) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.live[key]
	if t == nil {
		return nil, nil
	}
	return t, ts.stayLocked(t)
}

func (ts *tenants) all() []*tenant {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Collect(maps.Values(ts.live))
}

func (ts *tenants) cores() []*core {
	var out []*core
	for _, t := range ts.all() {
		out = append(out, t.core.Load())
	}
	return out
}

// take removes the longest unused of those that have been at rest for so long, and
// returns it, nil for none.
func (ts *tenants) take(rest time.Duration) *tenant {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var key string
	for k, t := range ts.live {
		if t.active == 0 && time.Since(t.since) >= rest && (key == "" || t.since.Before(ts.live[key].since)) {
			key = k
		}
	}
	t := ts.live[key]
	delete(ts.live, key)
	return t
}

type tenantKey struct{}

// tenantOf is the one who asks.
func (d *Daemon) tenantOf(ctx context.Context) *tenant {
	if t, ok := ctx.Value(tenantKey{}).(*tenant); ok {
		return t
	}
	return d.owner
}

// coreOf is the core of the one who asks.
func (d *Daemon) coreOf(ctx context.Context) *core { return d.tenantOf(ctx).core.Load() }

// canServeAll is an error where the config asks for what this process cannot do.
func (d *Daemon) canServeAll(cfg config.Config) error {
	if cfg.Daemon.Users == config.UsersAll && (runtime.GOOS != "linux" || os.Geteuid() != 0) {
		return fmt.Errorf(`users = "all" needs a daemon that runs as root on Linux (see docs/users.md; for yourself alone, leave it out)`)
	}
	return nil
}

// allow says whom the server serves; nil for its own rule.
func (d *Daemon) allow() func(server.Peer) bool {
	if d.config().Daemon.Users != config.UsersAll {
		return nil
	}
	return func(server.Peer) bool { return true }
}

// ownersMethods change what all see, or read whatever they are told.
var ownersMethods = map[string]bool{
	ipc.MethodReload: true, ipc.MethodFoldersAdd: true, ipc.MethodFoldersRemove: true, ipc.MethodShutdown: true,
	ipc.MethodVerify: true, ipc.MethodPause: true, ipc.MethodResume: true,
}

// admit finds out who asks, and has a core ready. The core stays until leave is called.
func (d *Daemon) admit(ctx context.Context, method string) (_ context.Context, leave func(), err error) {
	peer, known := server.PeerFrom(ctx)
	if !known || peer.UID == 0 || int(peer.UID) == os.Geteuid() || d.allow() == nil {
		return ctx, func() {}, nil
	}
	if ownersMethods[method] {
		return ctx, nil, ipc.Errorf(ipc.CodeNotPermitted, "%s is for the owner of the daemon, which serves all users of this machine", method)
	}
	t, leave, err := d.enter(access.NewUser(peer.UID, peer.GID, peer.Groups))
	if err != nil {
		return ctx, nil, err
	}
	if err := t.core.Load().ready(ctx); err != nil {
		leave()
		return ctx, nil, closing(err)
	}
	return context.WithValue(ctx, tenantKey{}, t), leave, nil
}

// enter is the user's tenant, which stays, with a core that is started if need be.
func (d *Daemon) enter(user access.User) (t *tenant, leave func(), err error) {
	key := user.Key()
	if t, leave = d.tenants.find(key); t != nil {
		return t, leave, nil
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if t, leave = d.tenants.find(key); t != nil { // another request was quicker
		return t, leave, nil
	}
	if d.closed {
		return nil, nil, closing(watcher.ErrClosed)
	}
	if len(d.tenants.all()) >= maxTenants && !d.endTenant(leastRest) {
		return nil, nil, ipc.Errorf(ipc.CodeBusy, "%d users are being answered, which is the most at a time", maxTenants)
	}
	return d.startTenant(key, user)
}

// startTenant starts a user's core. The caller holds d.reloading.
func (d *Daemon) startTenant(key string, user access.User) (*tenant, func(), error) {
	t := &tenant{user: &user, core: new(atomic.Pointer[core]), news: new(news), dir: d.tenantDir(key)}
	c, err := d.startCore(d.config(), t)
	if err != nil {
		return nil, nil, err
	}
	t.core.Store(c)
	leave := d.tenants.stay(t)
	d.tenants.mu.Lock()
	defer d.tenants.mu.Unlock()
	if d.tenants.live == nil {
		d.tenants.live = map[string]*tenant{}
	}
	d.tenants.live[key] = t
	d.log.Info("a user is answered from an index of their own", "uid", user.UID)
	return t, leave, nil
}

// endTenant ends the core of the longest unused user who has been at rest for so long;
// false means that there is none. The caller holds d.reloading.
func (d *Daemon) endTenant(rest time.Duration) bool {
	t := d.tenants.take(rest)
	if t == nil {
		return false
	}
	t.core.Load().close()
	d.touchTenant(t)
	return true
}

// closeTenants ends all. The caller holds d.reloading.
func (d *Daemon) closeTenants() {
	for _, t := range d.tenants.all() {
		t.core.Load().close()
		d.touchTenant(t)
	}
}

// rebuildTenants gives the users another core where cfg asks for another kind of
// index. It answers at once, from what it has. The caller holds d.reloading.
func (d *Daemon) rebuildTenants(cfg config.Config) {
	for _, t := range d.tenants.all() {
		old := t.core.Load()
		if old.key == indexKey(cfg) {
			continue
		}
		next, err := d.startCore(cfg, t)
		if err != nil {
			d.log.Warn("a user is answered from the old index", "uid", t.user.UID, "err", err)
			continue
		}
		old.halt()
		next.base = old.generation() + 1
		t.core.Store(next)
		t.news.tell()
		old.close()
		if err := removeIndex(old.dir); err != nil {
			d.log.Warn("an index of an earlier configuration cannot be removed", "err", err)
		}
	}
}

// ready waits until the index has nothing of files that the user may no longer read,
// which is what an earlier core may have left.
func (c *core) ready(ctx context.Context) error {
	if !c.inherits || c.isCaughtUp() {
		return nil
	}
	reason, _, _ := c.manners.paused()
	if reason == "" {
		return c.await(ctx, c.caughtUp)
	}
	brief, cancel := context.WithTimeout(ctx, pausedPatience)
	defer cancel()
	err := c.await(brief, c.caughtUp)
	if brief.Err() != nil && ctx.Err() == nil {
		return errPaused
	}
	return err
}

// state is the watcher's, for a user without what files have a part in that the user
// may not read: an event in a directory is one whatever it was about.
func (c *core) state() watcher.State {
	s := c.watch.State()
	if c.user == nil {
		return s
	}
	out := watcher.State{Roots: s.Roots, Pending: s.Changes, Scanning: !c.isCaughtUp()}
	for i, r := range out.Roots {
		if r.State == "scanning" && !out.Scanning {
			out.Roots[i].State = "watching"
		}
	}
	return out
}

func (d *Daemon) tenantsDir() string { return filepath.Join(d.dataDir, "users") }

// tenantDir is where the user's indexes are.
func (d *Daemon) tenantDir(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(d.tenantsDir(), hex.EncodeToString(sum[:8]))
}

// touchTenant notes when a user's index was last kept up to date.
func (d *Daemon) touchTenant(t *tenant) {
	now := time.Now()
	if err := os.Chtimes(t.dir, now, now); err != nil {
		d.log.Warn("the time of a user's index cannot be set", "err", err)
	}
}

// sweepTenants ends the cores of users who have gone, and removes in time the indexes
// that nobody keeps up to date: deleted text must not outlive purge_after in them. It
// returns when ctx is done.
func (d *Daemon) sweepTenants(ctx context.Context) {
	for {
		d.reloading.Lock()
		for !d.closed && d.endTenant(tenantRest) {
		}
		if !d.closed {
			d.removeStale(time.Now().Add(-d.config().Daemon.PurgeAfter))
		}
		d.reloading.Unlock()
		if sleep(ctx, tenantSweep); ctx.Err() != nil {
			return
		}
	}
}

// removeStale removes the indexes without a core that were last up to date before a
// time. The caller holds d.reloading.
func (d *Daemon) removeStale(before time.Time) {
	entries, err := os.ReadDir(d.tenantsDir())
	if err != nil {
		return // there is none
	}
	live := map[string]bool{}
	for _, c := range d.tenants.cores() {
		live[filepath.Base(filepath.Dir(c.dir))] = true
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || live[e.Name()] || !info.ModTime().Before(before) {
			continue
		}
		if err := removeIndex(filepath.Join(d.tenantsDir(), e.Name())); err != nil {
			d.log.Warn("a user's old index cannot be removed", "err", err)
		}
	}
}
