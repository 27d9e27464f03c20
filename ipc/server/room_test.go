package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quern/ipc"
)

// TestUnreadAnswersAreBounded has many clients ask for large answers that they
// do not read. What the server holds of them stays bounded, a client that reads
// is served all the while, and all is well when the others read after all.
func TestUnreadAnswersAreBounded(t *testing.T) {
	const clients, requests, size = 30, 64, 300_000
	f := serve(t, Options{MaxAnswerBytes: 2 << 20, WriteTimeout: patience})
	var held int64
	var lazy []*wire
	for range clients {
		w := f.dial(t)
		for i := range requests {
			w.send(request1(fmt.Sprint(i), "echo", fmt.Sprintf(`{"size":%d}`, size)) + "\n")
		}
		lazy = append(lazy, w)
	}
	reader := f.dial(t)
	for i := range 50 {
		reader.send(request1(fmt.Sprint(i), "echo", `{"text":"small"}`) + "\n")
		if got := code(t, reader.line()); got != 0 {
			t.Errorf("the client that reads gets code %d", got)
		}
		f.answers.mu.Lock()
		held = max(held, f.answers.used)
		f.answers.mu.Unlock()
	}
	// Twice the limit, and a share, a socket's buffer and an answer just made
	// for each connection.
	if most := int64(4<<20 + clients*(fairShare+size)); held > most {
		t.Errorf("%d bytes are held, of %d asked for; want at most %d", held, clients*requests*size, most)
	}
	for _, w := range lazy {
		_ = w.SetDeadline(time.Now().Add(patience))
		for range requests {
			got := w.line()
			if c := code(t, got); c != 0 && c != ipc.CodeBusy || c == 0 && !strings.Contains(got, "xxx") {
				t.Fatalf("got code %d", c)
			}
		}
	}
	eventually(t, "nothing is held", func() bool {
		f.answers.mu.Lock()
		defer f.answers.mu.Unlock()
		return f.answers.used == 0
	})
}

func TestABatchNeedsNoMoreRoomThanThereIs(t *testing.T) {
	f := serve(t, Options{MaxAnswerBytes: 1})
	var batch []string
	for i := range 64 {
		batch = append(batch, request1(fmt.Sprint(i), "echo", `{"text":"x"}`))
	}
	w := f.dial(t)
	for range 3 {
		w.send("[" + strings.Join(batch, ",") + "]\n")
	}
	for range 3 {
		if got := w.line(); strings.Count(got, `"text":"x"`) != 64 {
			t.Errorf("got %.300s", got)
		}
	}
}
