package index

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"quern/index/segment/vfs"
)

// TestVanishedDirectory removes the data directory under a running engine: it is
// written again, whole, and nothing has to be indexed anew.
func TestVanishedDirectory(t *testing.T) {
	mem := vfs.NewMem()
	o := durableOptions(mem)
	o.MemoryBudget = 100 << 10
	o.OnDamage = func(err error) { t.Errorf("told %v", err) }
	e := openEngine(t, o)
	apply(t, e, billing...)
	must(t, e.Flush(t.Context()))
	mem.Vanish()
	for _, f := range newCorpus(5).files(100, 300) { // more than the budget
		apply(t, e, f)
	}
	mem.Vanish()
	must(t, e.Flush(t.Context()))
	if _, err := Open(o); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a second engine opens with %v", err)
	}
	mem.Vanish()
	must(t, e.Close())
	e = openEngine(t, o)
	if n := e.Snapshot().Stats().Documents; n != 104 {
		t.Errorf("%d documents", n)
	}
	must(t, e.Snapshot().Verify())
}

// TestReplacedDirectory: when another engine has made the directory anew and
// holds it, nothing is written there.
func TestReplacedDirectory(t *testing.T) {
	mem := vfs.NewMem()
	o := durableOptions(mem)
	e := openEngine(t, o)
	apply(t, e, billing...)
	mem.Vanish()
	other := openEngine(t, o)
	if err := e.Flush(t.Context()); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("flushed with %v", err)
	}
	if err := e.Close(); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("closed with %v", err)
	}
	apply(t, other, billing...)
	must(t, other.Close())
}

// TestLockFileRemoved: the lock is on the directory, too.
func TestLockFileRemoved(t *testing.T) {
	o := plainOptions()
	o.Dir = t.TempDir()
	e := openEngine(t, o)
	if err := os.Remove(filepath.Join(o.Dir, lockName)); err != nil {
		t.Skip("the file cannot be removed here:", err)
	}
	if _, err := Open(o); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a second engine opens with %v", err)
	}
	must(t, os.RemoveAll(o.Dir))
	apply(t, e, billing...)
	must(t, e.Close())
	e = openEngine(t, o)
	if n := e.Snapshot().Stats().Documents; n != 4 {
		t.Errorf("%d documents once the directory was removed", n)
	}
	must(t, e.Close())
}

// TestCutShort: a segment that is cut within a page reads as zeros there; the
// next commit finds it.
func TestCutShort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped")
	}
	o := plainOptions()
	o.Dir = t.TempDir()
	told := 0
	o.OnDamage = func(error) { told++ }
	e := openEngine(t, o)
	apply(t, e, billing...)
	must(t, e.Flush(t.Context()))
	name := filepath.Join(o.Dir, fileName(1, segmentSuffix))
	st, err := os.Stat(name)
	must(t, err)
	must(t, os.Truncate(name, st.Size()-1))
	apply(t, e, putText("/new", "new words"))
	must(t, e.Flush(t.Context()))
	if n := e.Snapshot().Stats().Documents; n != 1 || told != 1 {
		t.Errorf("%d documents, told %d times", n, told)
	}
	must(t, e.Snapshot().Verify())
}

// TestDamagedNorms flips, and cuts short, the mapped file that norms and df are
// read from: answers stay what they are, and nothing is lost.
func TestDamagedNorms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped")
	}
	o := plainOptions()
	o.Dir = t.TempDir()
	o.OnDamage = func(err error) { t.Errorf("told %v", err) }
	files := newCorpus(5).files(50, 2000)
	for _, cut := range []int64{0, 10, 5000} {
		e := openEngine(t, o)
		apply(t, e, files...)
		want := search(t, e.Snapshot(), "ba be", cosine)
		must(t, e.Close())
		e = openEngine(t, o)
		derived := e.Snapshot().derived
		if derived == nil {
			t.Fatal("norms are not read from a file")
		}
		must(t, os.Truncate(filepath.Join(o.Dir, derived.name), cut))
		if got := search(t, e.Snapshot(), "ba be", cosine); !reflect.DeepEqual(got.Hits, want.Hits) {
			t.Errorf("cut to %d: %s\nwant %s", cut, show(got), show(want))
		}
		if cut == 0 && e.Snapshot().derived != nil {
			t.Error("the file that is gone is still used")
		}
		_ = e.Snapshot().Verify()
		must(t, e.Snapshot().Verify())
		certified(t, e)
		apply(t, e, files[:3]...)
		must(t, e.Close())
	}
}

// TestOpensAsClosed: what the file written at the end says is what counting
// says, after any changes; and without it, it is counted.
func TestOpensAsClosed(t *testing.T) {
	mem := vfs.NewMem()
	o := durableOptions(mem)
	files := newCorpus(6).files(60, 300)
	for step := range 6 {
		e := openEngine(t, o)
		if quick := e.Snapshot().derived != nil; quick != (step > 0) {
			t.Errorf("step %d: statistics read from a file: %v", step, quick)
		}
		certified(t, e)
		apply(t, e, files[10*step:10*step+10]...)
		apply(t, e, remove(files[3*step].Put.Path))
		certified(t, e)
		if step == 3 {
			must(t, e.Flush(t.Context()))
			for more := true; more; {
				var err error
				more, err = e.mergeDisk(t.Context())
				must(t, err)
			}
		}
		must(t, e.Close())
	}
	list, err := mem.List()
	must(t, err)
	for _, f := range list {
		if strings.HasSuffix(f.Name, normsSuffix) {
			must(t, mem.Remove(f.Name))
		}
	}
	e := openEngine(t, o)
	if e.Snapshot().derived != nil {
		t.Error("a file that is gone is used")
	}
	certified(t, e)
}
