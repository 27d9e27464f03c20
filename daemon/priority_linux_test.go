package daemon

import (
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// niceness of the calling thread: getpriority(2) returns 20 − nice.
func niceness(t *testing.T) int {
	t.Helper()
	p, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	if err != nil {
		t.Fatal(err)
	}
	return 20 - p
}

// Only the thread of the work gives its priority up, and no other inherits that.
func TestGently(t *testing.T) {
	usual := niceness(t)
	inside := -1
	gently(true, func() {
		inside = niceness(t)
		var wg sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) { // threads that are made meanwhile
			wg.Go(func() {
				runtime.LockOSThread() // each on a thread of its own
				defer runtime.UnlockOSThread()
				if n := niceness(t); n != usual {
					t.Errorf("another goroutine is at %d", n)
				}
			})
		}
		wg.Wait()
	})
	if inside != leastPriority {
		t.Errorf("the work is done at %d", inside)
	}
	for range 50 {
		gently(false, func() {
			if n := niceness(t); n != usual {
				t.Fatalf("after it, other work is done at %d", n)
			}
		})
	}
}
