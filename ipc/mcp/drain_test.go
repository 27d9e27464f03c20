package mcp

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheEndWaitsForAnswers: the end of the input comes when the last answer is
// written, or when there will be none.
func TestTheEndWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asked = `{"id":1,"method":"a"}` + "\n" + `{"method":"note"}` + "\n" + `{"id":"x","method":"b"}` + "\n"
		var out bytes.Buffer
		d := newDrain(strings.NewReader(asked), &out)
		done := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(d)
			done <- string(all)
		}()
		for _, part := range []string{`{"id":1,"re`, `sult":{}}` + "\n", `{"method":"progress"}` + "\n"} {
			synctest.Wait()
			if len(done) > 0 {
				t.Fatalf("the input ended before %q", part)
			}
			_, _ = io.WriteString(d, part)
		}
		synctest.Wait()
		if len(done) > 0 {
			t.Fatal("the input ended before the last answer")
		}
		_, _ = io.WriteString(d, `{"id":"x","error":{}}`+"\n")
		if got := <-done; got != asked {
			t.Errorf("read %q", got)
		}
	})
}

func TestTheEndDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := io.ReadAll(newDrain(strings.NewReader(`{"id":1,"method":"a"}`+"\n"), io.Discard)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != drainTime {
			t.Errorf("waited %v", took)
		}
	})
}
