package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// service is an embeddings service on loopback: the vector of a text is its length
// and its first byte.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	asked  [][]string
	before func(n int, w http.ResponseWriter, r *http.Request) (answered bool)
	after  func(map[string]any) any
}

func newService(t *testing.T) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	var q request
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, q.Input)
	n := len(s.asked)
	s.mu.Unlock()
	if s.before != nil && s.before(n, w, r) {
		return
	}
	var data []any
	for i := len(q.Input) - 1; i >= 0; i-- { // last first: the index counts
		data = append(data, map[string]any{"index": i, "embedding": vectorOf(q.Input[i])})
	}
	var answer any = map[string]any{"object": "list", "data": data}
	if s.after != nil {
		answer = s.after(answer.(map[string]any))
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func vectorOf(text string) []float32 {
	return []float32{127, float32(min(len(text), 127)), float32(text[0])}
}

// client makes a client that does not wait, and notes how long it would have.
func client(t *testing.T, s *service, o Options) (*Client, *[]time.Duration) {
	t.Helper()
	o.URL = s.URL + "/v1/embeddings"
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var waits []time.Duration
	c.pause = func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		return context.Cause(ctx)
	}
	return c, &waits
}

func texts(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%c text", 'a'+i)+strings.Repeat("x", i))
	}
	return out
}

func check(t *testing.T, c *Client, in []string, prefix string) {
	t.Helper()
	got, err := c.Embed(context.Background(), in, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range in {
		if !slices.Equal(got[i], vectorOf(prefix+text)) {
			t.Fatalf("%q: %v, want %v", text, got[i], vectorOf(prefix+text))
		}
	}
}

func TestTextsGoInBatchesAndComeInOrder(t *testing.T) {
	s := newService(t)
	c, _ := client(t, s, Options{Batch: 4, PassagePrefix: "passage: ", QueryPrefix: "query: "})
	check(t, c, texts(10), "passage: ")
	if len(s.asked) != 3 || len(s.asked[2]) != 2 {
		t.Errorf("asked %q", s.asked)
	}
	if _, err := c.Embed(context.Background(), []string{"why"}, true); err != nil || s.asked[3][0] != "query: why" {
		t.Errorf("asked %q, %v", s.asked[3], err)
	}
}

func TestTheKeyGoesToTheAddressAlone(t *testing.T) {
	other := newService(t)
	other.before = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("the redirect was followed, with %q", r.Header.Get("Authorization"))
		return false
	}
	s := newService(t)
	s.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("Authorization: %q", r.Header.Get("Authorization"))
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		return true
	}
	c, _ := client(t, s, Options{Key: "secret"})
	if _, err := c.Embed(context.Background(), texts(1), false); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("err = %v", err)
	}
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	s := newService(t)
	s.before = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		switch n {
		case 1:
			w.Header().Set("Retry-After", "7")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case 2:
			http.Error(w, "loading", http.StatusServiceUnavailable)
		default:
			return false
		}
		return true
	}
	c, waits := client(t, s, Options{})
	check(t, c, texts(2), "")
	if len(*waits) != 2 || (*waits)[0] != 7*time.Second || (*waits)[1] <= 0 {
		t.Errorf("waited %v", *waits)
	}
}

func TestAQueryIsTriedOnce(t *testing.T) {
	s := newService(t)
	s.before = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "loading", http.StatusServiceUnavailable)
		return true
	}
	c, waits := client(t, s, Options{})
	if _, err := c.Embed(context.Background(), texts(1), true); err == nil || len(*waits) != 0 {
		t.Errorf("after %v: %v", *waits, err)
	}
}

func TestRefusalsAreToldAtOnce(t *testing.T) {
	s := newService(t)
	s.before = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "no such\nmodel "+strings.Repeat("é", 1000), http.StatusNotFound)
		return true
	}
	c, waits := client(t, s, Options{})
	_, err := c.Embed(context.Background(), texts(1), false)
	if err == nil || !strings.Contains(err.Error(), "no such model") || len(err.Error()) > 600 || len(*waits) != 0 {
		t.Errorf("after %v: %v", *waits, err)
	}
}

func TestNoAnswerIsGivenUp(t *testing.T) {
	s := newService(t)
	c, waits := client(t, s, Options{})
	s.Close()
	if _, err := c.Embed(context.Background(), texts(1), false); err == nil || len(*waits) != tries-1 {
		t.Errorf("after %v: %v", *waits, err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := c.Embed(ctx, texts(1), false); err == nil {
		t.Error("an ended context does not end it")
	}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	item := func(index int, v ...float32) any { return map[string]any{"index": index, "embedding": v} }
	for name, answer := range map[string]any{
		"no list":      "hello",
		"too few":      map[string]any{"data": []any{item(0, 1)}},
		"twice":        map[string]any{"data": []any{item(0, 1), item(0, 1)}},
		"out of range": map[string]any{"data": []any{item(0, 1), item(2, 1)}},
		"negative":     map[string]any{"data": []any{item(-1, 1), item(0, 1)}},
		"empty":        map[string]any{"data": []any{item(0, 1), item(1)}},
		"words":        map[string]any{"data": []any{item(0, 1), map[string]any{"embedding": "abc"}}},
	} {
		s := newService(t)
		s.after = func(map[string]any) any { return answer }
		c, _ := client(t, s, Options{})
		if _, err := c.Embed(context.Background(), texts(2), false); err == nil || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "localhost:11434", "ftp://h/x", "http://", "/v1/embeddings", "http://a b"} {
		if _, err := New(Options{URL: bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestNothingIsAskedTwice(t *testing.T) {
	s, dir := newService(t), t.TempDir()
	c, _ := client(t, s, Options{Dir: dir})
	check(t, c, texts(5), "")
	check(t, c, texts(6), "") // one is new
	if len(s.asked) != 2 || len(s.asked[1]) != 1 {
		t.Fatalf("asked %q", s.asked)
	}
	_ = c.Close()
	c, _ = client(t, s, Options{Dir: dir}) // after a restart
	check(t, c, texts(6), "")
	if len(s.asked) != 2 {
		t.Errorf("asked again: %q", s.asked[2:])
	}
	_ = c.Close()
	c, _ = client(t, s, Options{Dir: dir, Model: "another"})
	check(t, c, texts(1), "")
	if len(s.asked) != 3 {
		t.Error("another model has the vectors of the first")
	}
}

func TestADamagedCacheIsAskedAnew(t *testing.T) {
	s, dir := newService(t), t.TempDir()
	c, _ := client(t, s, Options{Dir: dir})
	check(t, c, texts(4), "")
	_ = c.Close()
	file := filepath.Join(dir, cacheName)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		flipped := slices.Clone(whole)
		flipped[at] ^= 1
		for _, bad := range [][]byte{whole[:at], flipped} {
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			c, _ := client(t, s, Options{Dir: dir})
			check(t, c, texts(5), "")
			_ = c.Close()
		}
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	defer func(n int64) { maxCache = n }(maxCache)
	maxCache = 2000
	s, dir := newService(t), t.TempDir()
	c, _ := client(t, s, Options{Dir: dir})
	for i := range 500 {
		check(t, c, []string{fmt.Sprintf("%d words", i)}, "")
	}
	asked := len(s.asked)
	check(t, c, []string{"499 words", "490 words"}, "")
	if len(s.asked) != asked {
		t.Error("the latest are not remembered")
	}
	for _, name := range []string{cacheName, previousName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() > maxCache+100 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`), 1)
	f.Add([]byte(`{"data":[{"embedding":[1]},{"embedding":[1e99]}]}`), 2)
	f.Add([]byte(`[]`), 0)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 100 {
			return
		}
		vectors, err := vectorsOf(data, n)
		if err == nil && (len(vectors) != n || slices.ContainsFunc(vectors, func(v []float32) bool { return len(v) == 0 })) {
			t.Errorf("%d vectors for %d", len(vectors), n)
		}
	})
}
