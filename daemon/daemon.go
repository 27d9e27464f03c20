// Package daemon joins the parts of Quern: it watches the configured folders,
// feeds what changed to the index and answers the protocol's methods. It is the
// one place where config, watcher, index and ipc meet.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quern/config"
	"quern/index/embed"
	"quern/index/extract/sandbox"
	"quern/ipc/server"
)

// Options configure Run.
type Options struct {
	// ConfigPath is the config file. One that does not exist means the
	// defaults, until it appears.
	ConfigPath string
	// Socket overrides the socket's path; see config.Config.SocketPath.
	Socket string
	// Version is told to clients.
	Version string
	// DataDir overrides the data directory; see config.Config.DataDir.
	DataDir string
	// IdleExit ends a daemon that has no configured folder after so long
	// without a request; 0 means never.
	IdleExit time.Duration
	// PowerSupply is the directory that tells whether the machine runs on
	// battery. Default: /sys/class/power_supply.
	PowerSupply string
	// Rehash is the time from one slow comparison of all files with the index to
	// the next. Default: a day; negative: never.
	Rehash time.Duration
	Log    *slog.Logger
	// Ready, if set, is called once the socket answers.
	Ready func()
}

// shutdownGrace bounds how long accepted requests may take to be answered when
// the daemon ends.
const shutdownGrace = time.Second

// Daemon is a running daemon.
type Daemon struct {
	opts    Options
	log     *slog.Logger
	started time.Time
	socket  string
	dataDir string
	end     context.CancelFunc // asks Run to return
	idle    *idleTimer
	// instance names this run to clients that compare generations.
	instance string
	news     news // told when documents or the work to do have changed
	manners  *manners
	rehash   *rehasher // nil: never

	rulesChanged chan struct{} // capacity 1: see checkRules
	// sandbox reads files for all cores, and quarantine knows those that it must not
	// read.
	sandbox    *sandbox.Sandbox
	quarantine *quarantine

	core      atomic.Pointer[core] // answers its owner's queries
	owner     *tenant              // for whom that is
	tenants   tenants              // other users
	switching sync.WaitGroup       // goroutines of switchWhenReady

	// reloading serialises changes of the config and the folders, and guards
	// the fields up to mu, which is taken after it.
	reloading sync.Mutex
	cores     int             // started so far
	closed    bool            // no core may be started any more
	temporary []config.Folder // for this daemon's life, not in the config
	embedding config.Embedding
	embedder  *embed.Client // by embedding; nil: vectors are learned

	mu        sync.Mutex // guards all fields below
	cfg       config.Config
	configErr error // of a bad edit; cfg is the last good one
	next      *core // being built with another index configuration, or nil
}

// gcPercent is how much garbage may come on top of what is in use before it is
// collected, unless GOGC says otherwise: a first index holds a third less memory
// than with Go's own 100, for the same time.
const gcPercent = 40

// ErrInUse is returned by Run, wrapped, when a daemon already answers on the socket.
var ErrInUse = server.ErrInUse

// Run serves until ctx is done or a client asks for shutdown, and then returns
// nil. Other errors are ErrInUse and the config's own, when that cannot be used.
func Run(ctx context.Context, o Options) error {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d, err := newDaemon(o, cancel)
	if err != nil {
		return err
	}
	listener, err := d.listen()
	if err != nil {
		return fmt.Errorf("listen on %s: %w", d.socket, err)
	}
	defer listener.Close()
	return d.run(ctx, listener)
}

func newDaemon(o Options, end context.CancelFunc) (*Daemon, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	cfg, err := loadConfig(o.ConfigPath)
	if err != nil {
		return nil, err
	}
	socket, err := cfg.SocketPath(o.Socket)
	if err != nil {
		return nil, err
	}
	if socket, err = filepath.Abs(socket); err != nil {
		return nil, fmt.Errorf("socket path: %w", err)
	}
	dataDir := o.DataDir
	if dataDir == "" {
		if dataDir, err = cfg.DataDir(); err != nil {
			return nil, err
		}
	}
	d := &Daemon{
		opts: o, log: o.Log, started: time.Now(), socket: socket, dataDir: dataDir,
		end: end, idle: newIdleTimer(o.IdleExit), cfg: cfg,
		instance: strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid()),
		rehash:   newRehasher(o.Rehash), rulesChanged: make(chan struct{}, 1),
		manners: newManners(cmp.Or(o.PowerSupply, powerSupplies), filepath.Join(dataDir, "paused"), cfg.Daemon.OnBattery),
	}
	d.owner = &tenant{core: &d.core, news: &d.news, dir: d.indexDir()}
	return d, d.canServeAll(cfg)
}

// loadConfig reads the config file; one that is not there means the defaults.
func loadConfig(path string) (config.Config, error) {
	if path == "" {
		return config.Default(), nil
	}
	cfg, err := config.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return defaults(path), nil
	}
	return cfg, err
}

// defaults is the config of a file that is not there.
func defaults(path string) config.Config {
	cfg := config.Default()
	cfg.Path = path
	return cfg
}

// run starts the parts in the order of their arrows, and stops them in the
// opposite one.
func (d *Daemon) run(ctx context.Context, listener net.Listener) error {
	lock, err := d.lockData(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := d.openSandbox(); err != nil {
		return err
	}
	defer d.sandbox.Close()
	if err := d.startFirst(); err != nil {
		return err
	}
	defer d.closeCores()

	srv := server.New(server.Options{Log: d.log, Allow: d.allow()})
	d.register(srv)
	serving := make(chan error, 1)
	go func() { serving <- d.serve(srv, listener) }() // ends with srv.Shutdown

	var background sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer background.Wait()
	defer stop()
	background.Go(func() { d.watchConfig(ctx) })
	background.Go(func() { d.watchRules(ctx) })
	background.Go(func() { d.sweepTenants(ctx) })
	background.Go(func() { d.idle.watch(ctx, d.canIdle, d.end) })

	d.log.Info("serving", "socket", d.socket, "folders", len(d.folders()))
	if d.opts.Ready != nil {
		d.opts.Ready()
	}
	select {
	case err = <-serving:
		err = fmt.Errorf("serve on %s: %w", d.socket, err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		d.log.Warn("requests cut off at shutdown", "err", err)
	}
	d.log.Info("stopped")
	return err
}

// startFirst starts the core that answers first.
func (d *Daemon) startFirst() error {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	c, err := d.startCore(d.config(), d.owner)
	if err != nil {
		return err
	}
	d.core.Store(c)
	if err := d.followEmbedding(d.config()); err != nil {
		d.log.Warn("vectors are learned, as the embedding service cannot be used", "err", err)
	}
	d.removeOldIndexes()
	return nil
}

// closeCores ends all cores, and lets no handler that outlived the server's
// shutdown start another.
func (d *Daemon) closeCores() {
	defer d.switching.Wait()
	d.reloading.Lock()
	defer d.reloading.Unlock()
	d.closed = true
	if next := d.setNext(nil); next != nil {
		next.close()
	}
	d.core.Load().close()
	d.closeTenants()
	if d.embedder != nil {
		if err := d.embedder.Close(); err != nil {
			d.log.Warn("the cache of embeddings could not be closed", "err", err)
		}
	}
}

// setNext replaces the core that is being built and returns the one before.
func (d *Daemon) setNext(c *core) (before *core) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.next = d.next, c
	return before
}

func (d *Daemon) config() config.Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cfg
}

// canIdle reports whether the daemon may end when nobody asks anything: it was
// started for a folder that no config names, and has caught up with it.
func (d *Daemon) canIdle() bool {
	return len(d.config().Folders) == 0 && d.core.Load().isCaughtUp()
}
