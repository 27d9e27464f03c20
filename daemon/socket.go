package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"quern/config"
	"quern/ipc/server"
)

// socketCheck is how often the daemon looks whether its socket is still there.
const socketCheck = 2 * time.Second

// listen makes the socket, for the owner or for all.
func (d *Daemon) listen() (net.Listener, error) {
	if d.config().Daemon.Users == config.UsersAll {
		return server.ListenShared(d.socket)
	}
	return server.Listen(d.socket)
}

// serve answers on the socket until srv is shut down. A socket that was removed or
// replaced, as when the runtime directory is cleaned, is made anew: without it no
// client could reach this daemon, not even to end it. When another daemon was
// quicker, or the socket cannot be made, the error ends this one.
func (d *Daemon) serve(srv *server.Server, l net.Listener) error {
	for {
		lost, err := d.serveWhileThere(srv, l)
		if !lost {
			return err
		}
		d.log.Warn("the socket was removed or replaced; making it anew", "socket", d.socket)
		if l, err = d.listen(); err != nil {
			return fmt.Errorf("make the removed socket anew: %w", err)
		}
	}
}

// serveWhileThere serves on l, and reports whether that ended because the socket's
// file was lost.
func (d *Daemon) serveWhileThere(srv *server.Server, l net.Listener) (lost bool, err error) {
	made, err := os.Lstat(d.socket)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), errors.Join(err, l.Close())
	}
	var gone atomic.Bool
	var guard sync.WaitGroup
	stop := make(chan struct{})
	guard.Go(func() {
		if isReplacedBefore(stop, d.socket, made) {
			gone.Store(true)
			_ = l.Close() // ends Serve, which has the error
		}
	})
	err = srv.Serve(l)
	close(stop)
	guard.Wait()
	return gone.Load() && err != nil, err
}

// isReplacedBefore returns true once the file at path is not made any more, and
// false when stop is closed.
func isReplacedBefore(stop <-chan struct{}, path string, made fs.FileInfo) bool {
	tick := time.NewTicker(socketCheck)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return false
		case <-tick.C:
		}
		now, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !isSame(made, now) {
			return true
		}
	}
}

// isSame reports whether two looks were at the same socket: a new one may have got
// the inode of the old.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}
