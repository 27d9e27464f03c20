package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quern/ipc"
)

// letters is an embedding service on loopback that counts letters.
func letters(t *testing.T, down *atomic.Bool) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || down.Load() {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		type item struct {
			Embedding [26]float32 `json:"embedding"`
		}
		var data []item
		for _, text := range q.Input {
			var i item
			for _, c := range strings.ToLower(text) {
				if c >= 'a' && c <= 'z' {
					i.Embedding[c-'a']++
				}
			}
			data = append(data, i)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s
}

// awaitVectors waits until the status says that all passages have vectors of a model.
func awaitVectors(t *testing.T, h *harness, name string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		e := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{}).Embedding
		if e != nil && strings.HasPrefix(e.Name, name) && e.Lacking == 0 && e.Embedded > 0 && e.Error == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no vectors of %s: %+v", name, e)
		}
	}
}

func TestHybridFromTheFilesToTheAnswer(t *testing.T) {
	var down atomic.Bool
	service := letters(t, &down)
	h := start(t, "")
	for i := range 20 {
		h.write(fmt.Sprintf("car%02d.txt", i), fmt.Sprintf("The %s has an engine and a wheel number%d.", []string{"car", "automobile"}[i%2], i%4))
		h.write(fmt.Sprintf("bread%02d.txt", i), fmt.Sprintf("Flour and sugar for the oven number%d.", i%4))
	}
	h.sync()
	search := func(query string) ipc.SearchResult {
		return call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: query, Model: "hybrid", K: 20, Sync: true, Explain: true})
	}
	search("automobile") // begins to learn
	awaitVectors(t, h, "lsa:")
	r := search("automobile")
	if len(r.Hits) != 20 || r.Degraded != "" || !strings.HasPrefix(r.Hits[19].Rel, "car") {
		t.Fatalf("%d hits, degraded %q", len(r.Hits), r.Degraded)
	}
	if x := r.Hits[0].Explain; x.Hybrid == nil || x.Lexical != "tfidf" && x.Lexical != "best" || x.Score != r.Hits[0].Score {
		t.Errorf("explained as %+v", r.Hits[0].Explain)
	}

	write(t, h.config, fmt.Sprintf("[[folder]]\npath = %q\n[rank]\nmodel = \"hybrid\"\n[embedding]\nkind = \"http\"\nurl = %q\nmodel = \"letters\"\n", h.notes, service.URL))
	call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
	awaitVectors(t, h, "remote:letters")
	h.write("new.txt", "zzz zz")
	awaitVectors(t, h, "remote:letters")
	if r := search("zzzz"); len(r.Hits) == 0 || r.Hits[0].Rel != "new.txt" {
		t.Errorf("by letters: %+v", r.Hits)
	}
	down.Store(true)
	if r := search("flour again"); len(r.Hits) == 0 || !strings.Contains(r.Degraded, "400") {
		t.Errorf("with the service down: %d hits, %q", len(r.Hits), r.Degraded)
	}
}
