package daemon_test

import (
	"os"
	"syscall"
	"testing"

	"quern/ipc"
)

// Verify finds content that no event told of, and repair mends it.
func TestVerifyFindsAndMends(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple pie")
	h.write("b.txt", "banana")
	h.sync()
	ask := func(repair bool) ipc.VerifyResult {
		return call[ipc.VerifyResult](h, ipc.MethodVerify, ipc.VerifyParams{Repair: repair})
	}
	if r := ask(false); len(r.Differences) != 0 || r.Index != "" || r.Documents != 2 {
		t.Errorf("before: %+v", r)
	}
	// A store through a mapping makes no event.
	f, err := os.OpenFile(h.path("a.txt"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := syscall.Mmap(int(f.Fd()), 0, len("apple pie"), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Skip("no shared mappings here:", err)
	}
	copy(page, "grape")
	if err := syscall.Munmap(page); err != nil {
		t.Fatal(err)
	}
	r := ask(false)
	if len(r.Differences) != 1 || r.Differences[0].Path != h.path("a.txt") || r.Repaired {
		t.Fatalf("after a change without an event: %+v", r)
	}
	if r := ask(true); !r.Repaired {
		t.Errorf("repair: %+v", r)
	}
	if got := rels(h.search("grape")); got != "a.txt" {
		t.Errorf("grape is found in %q", got)
	}
	if r := ask(false); len(r.Differences) != 0 {
		t.Errorf("after the repair: %+v", r)
	}
}
