package daemon_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quern/daemon"
	"quern/ipc"
	"quern/ipc/client"
)

// A daemon whose runtime directory is cleaned can be reached again, with all it
// knows.
func TestSocketRemoved(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	for _, lost := range []string{filepath.Dir(h.socket), h.socket} {
		if err := os.RemoveAll(lost); err != nil {
			t.Fatal(err)
		}
		h.redial()
		if got := rels(h.search("apple")); got != "a.txt" {
			t.Errorf("apple is found in %q", got)
		}
	}
}

// redial connects to the socket once something answers there.
func (h *harness) redial() {
	h.t.Helper()
	h.client.Close()
	deadline := time.Now().Add(patience)
	for {
		c, err := client.Dial(context.Background(), h.socket)
		if err == nil {
			h.client = c
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// When another daemon has taken the place, the one without a socket ends.
func TestSocketTakenOver(t *testing.T) {
	h := start(t, "")
	if err := os.RemoveAll(filepath.Dir(h.socket)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	second, ready := make(chan error, 1), make(chan struct{})
	go func() {
		second <- daemon.Run(ctx, daemon.Options{
			ConfigPath: h.config, Socket: h.socket, Ready: func() { close(ready) },
		})
	}()
	defer func() { cancel(); <-second }()
	select {
	case <-ready:
	case err := <-second:
		second <- nil
		t.Skip("the first daemon was quicker: ", err)
	}
	select {
	case err := <-h.done:
		h.done <- nil
		if !errors.Is(err, daemon.ErrInUse) {
			t.Errorf("the first daemon ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("the first daemon does not end")
	}
	h.redial()
	call[ipc.HelloResult](h, ipc.MethodHello, ipc.HelloParams{})
}
