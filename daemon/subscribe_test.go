package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quern/ipc"
	"quern/ipc/client"
)

// listener is a connection with its notifications.
type listener struct {
	*harness
	c       *client.Client
	notices chan ipc.Changed
	states  chan ipc.ProgressNotice
}

func (h *harness) listener() *listener {
	h.t.Helper()
	c, err := client.Dial(h.t.Context(), h.socket)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	l := &listener{h, c, make(chan ipc.Changed, 1000), make(chan ipc.ProgressNotice, 1000)}
	all := h.schemas()
	c.OnNotification(func(method string, params json.RawMessage) {
		checkSchema(h.t, all.notifications[method], method, params)
		switch method {
		case ipc.MethodChanged:
			var n ipc.Changed
			_ = json.Unmarshal(params, &n)
			l.notices <- n
		case ipc.MethodProgress:
			var n ipc.ProgressNotice
			_ = json.Unmarshal(params, &n)
			l.states <- n
		}
	})
	return l
}

func (l *listener) subscribe(p ipc.SubscribeParams) ipc.SubscribeResult {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	var r ipc.SubscribeResult
	if err := l.c.Call(ctx, ipc.MethodSubscribe, p, &r); err != nil {
		l.t.Fatal(err)
	}
	return r
}

// until gathers notices until they have told of so many paths: what each is told
// to be at last.
func (l *listener) until(n int) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	for len(out) < n {
		select {
		case c := <-l.notices:
			for kind, paths := range map[string][]string{"added": c.Added, "modified": c.Modified, "removed": c.Removed} {
				for _, p := range paths {
					out[filepath.Base(p)] = kind
				}
			}
			if c.FreshStart {
				l.t.Fatalf("a fresh start: %+v", c)
			}
		case <-time.After(patience):
			l.t.Fatalf("after %v nothing more comes", out)
		}
	}
	return out
}

func TestSubscribe(t *testing.T) {
	h := start(t, "")
	h.write("old.txt", "an old document")
	h.sync()
	l := h.listener()
	s := l.subscribe(ipc.SubscribeParams{})
	if s.FreshStart || s.Instance == "" || s.Generation == 0 {
		t.Errorf("got %+v", s)
	}
	h.write("new.txt", "a new document")
	if got := l.until(1); got["new.txt"] != "added" {
		t.Errorf("got %v", got)
	}
	h.write("old.txt", "an old document, changed")
	if got := l.until(1); got["old.txt"] != "modified" {
		t.Errorf("got %v", got)
	}
	if err := os.Rename(h.path("new.txt"), h.path("moved.txt")); err != nil {
		t.Fatal(err)
	}
	if got := l.until(2); got["new.txt"] != "removed" || got["moved.txt"] != "added" {
		t.Errorf("got %v", got)
	}
	// Another tells all of it at once, by what it was and is.
	late := h.listener()
	if r := late.subscribe(ipc.SubscribeParams{Since: &s.Generation, Instance: s.Instance}); r.FreshStart {
		t.Errorf("got %+v", r)
	}
	if got := fmt.Sprint(late.until(2)); got != "map[moved.txt:added old.txt:modified]" {
		t.Errorf("got %v", got)
	}
	for name, p := range map[string]ipc.SubscribeParams{
		"too old":          {Since: new(uint64)},
		"another instance": {Since: &s.Generation, Instance: "other"},
		"the future":       {Since: ptr(uint64(1 << 40))},
	} {
		if r := late.subscribe(p); !r.FreshStart && name != "too old" || r.Subscription == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	ctx := t.Context()
	if err := l.c.Call(ctx, ipc.MethodUnsubscribe, ipc.UnsubscribeParams{Subscription: s.Subscription}, nil); err != nil {
		t.Error(err)
	}
	if err := l.c.Call(ctx, ipc.MethodUnsubscribe, ipc.UnsubscribeParams{Subscription: s.Subscription}, nil); code(err) != ipc.CodeNotFound {
		t.Errorf("again: %v", err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestSubscribeChooses(t *testing.T) {
	h := start(t, "")
	l := h.listener()
	l.subscribe(ipc.SubscribeParams{Path: "*.md", Folders: []string{"notes"}})
	h.write("a.txt", "not wanted")
	h.sync()
	h.write("b.md", "wanted")
	if got := fmt.Sprint(l.until(1)); got != "map[b.md:added]" {
		t.Errorf("got %v", got)
	}
	for _, bad := range []ipc.SubscribeParams{{Path: "["}, {Folders: []string{"nope"}}} {
		if err := l.c.Call(t.Context(), ipc.MethodSubscribe, bad, nil); code(err) != ipc.CodeInvalidParams {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A client that does not read what it has subscribed to keeps nobody waiting, and
// is told of all that it has missed in one notice.
func TestSubscriberThatSleeps(t *testing.T) {
	h := start(t, "")
	c, err := client.Dial(t.Context(), h.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	asleep, notices := make(chan struct{}), make(chan ipc.Changed, 100000)
	c.OnNotification(func(_ string, params json.RawMessage) {
		<-asleep
		var n ipc.Changed
		if err := json.Unmarshal(params, &n); err != nil {
			t.Error(err)
		}
		notices <- n
	})
	off := false
	if err := c.Call(t.Context(), ipc.MethodSubscribe, ipc.SubscribeParams{Progress: &off}, nil); err != nil {
		t.Fatal(err)
	}
	// More than any buffer holds, over many generations.
	long := strings.Repeat("d", 200) + "/" + strings.Repeat("e", 200) + "/" + strings.Repeat("f", 200)
	const rounds, files = 60, 30
	for i := range rounds {
		for j := range files {
			h.write(fmt.Sprintf("%s/%s%d-%d.txt", long, strings.Repeat("g", 200), i%5, j), fmt.Sprint("round ", i))
		}
		h.sync()
	}
	close(asleep)
	last := call[ipc.SyncResult](h, ipc.MethodSync, ipc.SyncParams{}).Generation
	seen, most, n := map[string]bool{}, 0, 0
	for known := uint64(0); known < last; {
		select {
		case c := <-notices:
			n++
			if c.FreshStart {
				t.Fatalf("a fresh start: %+v", c)
			}
			known = c.Generation
			paths := slices.Concat(c.Added, c.Modified, c.Removed)
			most = max(most, len(paths))
			for _, p := range paths {
				seen[p] = true
			}
		case <-time.After(patience):
			t.Fatalf("told of %d paths only", len(seen))
		}
	}
	if most <= files || n >= rounds || len(seen) != 5*files {
		t.Errorf("%d notices of %d paths, the largest of %d: nothing was gathered", n, len(seen), most)
	}
}

func TestSubscribeTellsProgress(t *testing.T) {
	h := start(t, "")
	l := h.listener()
	l.subscribe(ipc.SubscribeParams{})
	for i := range 200 {
		h.write(fmt.Sprint(i, ".txt"), fmt.Sprint("document number ", i))
	}
	worked := false
	for {
		select {
		case n := <-l.states:
			worked = worked || n.State != ipc.StateQuiescent
			if n.State == ipc.StateQuiescent && !worked {
				t.Error("rest without work")
			}
			if n.State == ipc.StateQuiescent {
				return
			}
		case <-time.After(patience):
			t.Fatal("no progress is told")
		}
	}
}

func TestTooMuchForANoticeIsAFreshStart(t *testing.T) {
	h := start(t, "")
	h.sync()
	before := call[ipc.SyncResult](h, ipc.MethodSync, ipc.SyncParams{}).Generation
	for i := range 1100 {
		h.write(fmt.Sprint(i, ".txt"), "short")
	}
	h.sync()
	l := h.listener()
	l.subscribe(ipc.SubscribeParams{Since: &before})
	select {
	case c := <-l.notices:
		if !c.FreshStart || len(c.Added) > 0 {
			t.Errorf("got %+v", c)
		}
	case <-time.After(patience):
		t.Fatal("nothing is told")
	}
}
