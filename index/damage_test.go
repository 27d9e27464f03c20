package index

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quern/index/segment"
	"quern/index/segment/vfs"
)

// putMissing puts what the index does not have, as a daemon does that compares
// it with its files.
func putMissing(t *testing.T, e *Engine, docs map[string]*Document) int {
	t.Helper()
	missing := maps.Clone(docs)
	for info := range e.Snapshot().Documents() {
		delete(missing, info.Path)
	}
	var batch []Change
	for _, d := range missing {
		c := *d
		batch = append(batch, Change{Put: &c})
	}
	apply(t, e, batch...)
	return len(batch)
}

// ofThese keeps the documents that the index has.
func ofThese(e *Engine, docs map[string]*Document) map[string]*Document {
	out := map[string]*Document{}
	for info := range e.Snapshot().Documents() {
		out[info.Path] = docs[info.Path]
	}
	return out
}

// TestDamagedFiles flips bytes of files at rest, and under a running engine: no
// answer is wrong, what is lost is told, and putting it again mends all.
func TestDamagedFiles(t *testing.T) {
	lost := 0
	for run := range *crashRuns {
		c := newScene(t, uint64(run))
		mem := vfs.NewMem()
		o := durableOptions(mem)
		o.OnDamage = func(err error) { lost++ }
		e, err := Open(o)
		must(t, err)
		c.play(e, 25)
		must(t, e.Flush(t.Context()))
		must(t, e.Close())
		running := run%2 == 0
		if running { // nothing but what opening needs is proved yet
			e, err = Open(o)
			must(t, err)
		}
		told := lost
		damageOne(t, mem, c.r)
		if !running {
			e, err = Open(o)
			must(t, err)
		}
		if running {
			_ = e.Snapshot().Verify() // finds the damage
		}
		c.touchAll(e)
		have := ofThese(e, c.docs)
		c.holds(e, have, fmt.Sprintf("run %d, damaged", run))
		if len(have) < len(c.docs) && lost == told {
			t.Fatalf("run %d: %d of %d documents are there, and nothing was told", run, len(have), len(c.docs))
		}
		putMissing(t, e, c.docs)
		c.holds(e, c.docs, fmt.Sprintf("run %d, mended", run))
		must(t, e.Close())
		e, err = Open(o)
		must(t, err)
		if !running { // otherwise damage may be found only now
			c.holds(e, c.docs, fmt.Sprintf("run %d, reopened", run))
		}
		putMissing(t, e, c.docs)
		c.holds(e, c.docs, fmt.Sprintf("run %d, at last", run))
		must(t, e.Close())
	}
	if lost == 0 {
		t.Error("nothing was ever lost: the test tests nothing")
	}
}

// TestDamageFoundLate flips a byte that opening does not look at.
func TestDamageFoundLate(t *testing.T) {
	files := newCorpus(8).files(25, 1000)
	docs := map[string]*Document{}
	for _, f := range files {
		docs[f.Put.Path] = f.Put
	}
	r := rand.New(rand.NewPCG(3, 3))
	late := 0
	for run := range 8 {
		mem, told := vfs.NewMem(), 0
		o := durableOptions(mem)
		e := openEngine(t, o)
		apply(t, e, files...)
		must(t, e.Close())
		m, err := mem.Map(fileName(1, segmentSuffix))
		must(t, err)
		m.Data[r.IntN(len(m.Data))] ^= 0x10
		o.OnDamage = func(error) { told++ }
		e = openEngine(t, o)
		if told == 0 {
			late++
		}
		c := &scene{t: t, r: r, docs: docs}
		c.touchAll(e)
		_ = e.Snapshot().Verify() // finds what no question has
		c.holds(e, ofThese(e, docs), fmt.Sprintf("run %d", run))
		putMissing(t, e, docs)
		c.holds(e, docs, fmt.Sprintf("run %d, mended", run))
		must(t, e.Close())
	}
	if late == 0 {
		t.Error("all damage was found at the opening: the test tests nothing")
	}
}

// damageOne flips some bytes of one file, in place: whoever has it mapped sees
// it.
func damageOne(t *testing.T, mem *vfs.Mem, r *rand.Rand) {
	t.Helper()
	files, err := mem.List()
	must(t, err)
	f := files[r.IntN(len(files))]
	if f.Size == 0 {
		return
	}
	m, err := mem.Map(f.Name)
	must(t, err)
	for range 1 + r.IntN(3) {
		m.Data[r.IntN(len(m.Data))] ^= byte(1 + r.IntN(255))
	}
}

// touchAll reads all that the engine has.
func (c *scene) touchAll(e *Engine) {
	for _, q := range append(words, "ba be bi", "bu co") {
		for _, o := range []SearchOptions{cosine, bm25} {
			if _, err := e.Snapshot().Search(c.t.Context(), q, o); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	for p := range c.docs {
		if _, _, err := e.Snapshot().Passages(p); err != nil && !errors.Is(err, ErrNotFound) {
			c.t.Fatal(err)
		}
	}
}

// filesOf reads all files below a directory.
func filesOf(t *testing.T, dir string) (all []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range entries {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		all = append(all, b...)
	}
	return all
}

// TestPurge looks for text in the raw files: it is there while the document is,
// and gone in time after.
func TestPurge(t *testing.T) {
	dir := t.TempDir()
	o := plainOptions()
	o.Dir, o.CommitEvery, o.PurgeAfter = dir, 5*time.Millisecond, 300*time.Millisecond
	e := openEngine(t, o)
	apply(t, e, billing...)
	apply(t, e, putText("/secret.txt", "xyzzyplugh"))
	must(t, e.Flush(t.Context()))
	if !bytes.Contains(filesOf(t, dir), []byte("xyzzyplugh")) {
		t.Fatal("the text is not to be found where the test looks for it")
	}
	apply(t, e, remove("/secret.txt"))
	deadline := time.Now().Add(10 * time.Second)
	for bytes.Contains(filesOf(t, dir), []byte("xyzzyplugh")) || bytes.Contains(filesOf(t, dir), []byte("secret.txt")) {
		if time.Now().After(deadline) {
			t.Fatal("the text of a removed document is still on the disk")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if r := search(t, e.Snapshot(), "billing", cosine); r.Total != 4 {
		t.Errorf("total %d after purging", r.Total)
	}
}

// TestPurgeInTime: text is gone from the files by the time that was set, however
// short, whenever it was removed.
func TestPurgeInTime(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 4 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			mem := vfs.NewMem()
			o := plainOptions()
			o.FS, o.PurgeAfter = mem, after
			e := openEngine(t, o)
			for i := range 5 {
				apply(t, e, putText("/secret.txt", "xyzzyplugh"), putText(fmt.Sprint("/other", i), "foo bar"))
				must(t, e.Flush(t.Context()))
				time.Sleep(time.Duration(i) * 700 * time.Millisecond)
				if !memHas(t, mem, "xyzzyplugh") {
					t.Fatal("the text is not to be found where the test looks for it")
				}
				apply(t, e, remove("/secret.txt"))
				time.Sleep(after)
				synctest.Wait()
				if memHas(t, mem, "xyzzyplugh") {
					t.Errorf("the text is still there after %v", after)
				}
			}
			must(t, e.Close())
		})
	}
}

// memHas looks for text in all files.
func memHas(t *testing.T, mem *vfs.Mem, text string) bool {
	t.Helper()
	files, err := mem.List()
	must(t, err)
	for _, f := range files {
		if m, err := mem.Map(f.Name); err == nil && bytes.Contains(m.Data, []byte(text)) {
			return true
		}
	}
	return false
}

var churnEdits = flag.Int("edits", 20000, "how often TestEndlessChurn edits a file")

// TestEndlessChurn edits one file again and again beside others that stay: the
// files on disk, their number and the numbers of terms stay bounded.
func TestEndlessChurn(t *testing.T) {
	mem := vfs.NewMem()
	o := durableOptions(mem)
	o.MemoryBudget = 256 << 10
	e := openEngine(t, o)
	apply(t, e, newCorpus(5).files(50, 200)...)
	must(t, e.Flush(t.Context()))
	start := e.Snapshot().Stats()
	edits := *churnEdits
	if testing.Short() {
		edits = 500
	}
	most := int64(0)
	for i := range edits {
		apply(t, e, putText("/edited", fmt.Sprintf("fixed words that stay. only%d and%d", i, i/2)))
		if i%50 == 0 {
			must(t, e.Flush(t.Context()))
			for more := true; more; {
				var err error
				more, err = e.mergeDisk(t.Context())
				must(t, err)
			}
			must(t, e.Flush(t.Context()))
			size := int64(0)
			files, err := mem.List()
			must(t, err)
			for _, f := range files {
				size += f.Size
			}
			most = max(most, size)
		}
	}
	must(t, e.mergeAll(t.Context()))
	s := e.Snapshot()
	if st := s.Stats(); most > 2*start.DiskBytes+1<<16 || st.Segments > 30 || s.stats.len() > 2*start.Terms+4096 {
		t.Errorf("at most %d bytes on disk, once %d; %d segments, %d numbers of terms, once %d",
			most, start.DiskBytes, st.Segments, s.stats.len(), start.Terms)
	}
	must(t, s.Verify())
}

func TestOneEngineADirectory(t *testing.T) {
	o := plainOptions()
	o.Dir = t.TempDir()
	e := openEngine(t, o)
	if _, err := Open(o); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a second engine opens with %v", err)
	}
	must(t, e.Close())
	e = openEngine(t, o)
	must(t, e.Close())
}

func TestPrivateDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	o := plainOptions()
	o.Dir = filepath.Join(t.TempDir(), "a", "b")
	e := openEngine(t, o)
	apply(t, e, billing...)
	must(t, e.Close())
	st, err := os.Stat(o.Dir)
	must(t, err)
	if st.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v", st.Mode())
	}
	entries, err := os.ReadDir(o.Dir)
	must(t, err)
	names := ""
	for _, f := range entries {
		st, err := f.Info()
		must(t, err)
		names += f.Name() + " "
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f.Name(), st.Mode())
		}
	}
	if names != "000000000001.seg 000000000002.norms CACHEDIR.TAG LOCK MANIFEST " {
		t.Errorf("the files are %s", names)
	}
	tag, err := os.ReadFile(filepath.Join(o.Dir, cacheTag))
	if err != nil || !strings.HasPrefix(string(tag), "Signature: 8a477f597d28d172789f06886806bc55") {
		t.Errorf("%s holds %q, %v", cacheTag, tag, err)
	}
}

// TestOtherOptions: an index made otherwise is emptied, told, and never read.
func TestOtherOptions(t *testing.T) {
	mem := vfs.NewMem()
	o := durableOptions(mem)
	e := openEngine(t, o)
	apply(t, e, billing...)
	must(t, e.Close())
	var told error
	o.OnDamage = func(err error) { told = err }
	o.Analysis.Stopwords = "none"
	e = openEngine(t, o)
	if n := e.Snapshot().Stats().Documents; n != 0 || !errors.Is(told, ErrOutdated) {
		t.Errorf("%d documents, told %v", n, told)
	}
	apply(t, e, billing...)
	must(t, e.Close())
	told = nil
	e = openEngine(t, o)
	if n := e.Snapshot().Stats().Documents; n != 4 || told != nil {
		t.Errorf("%d documents, told %v", n, told)
	}
}

func TestOtherVersion(t *testing.T) {
	mem := vfs.NewMem()
	o := durableOptions(mem)
	e := openEngine(t, o)
	apply(t, e, billing...)
	must(t, e.Close())
	m, err := mem.Map(manifestName)
	must(t, err)
	manifest, err := decodeManifest(m.Data)
	must(t, err)
	newer := manifest.encodeAs(manifestVersion + 1)
	must(t, writeWhole(mem, manifestName, func(f vfs.File) error { _, err := f.Write(newer); return err }))
	var told error
	o.OnDamage = func(err error) { told = err }
	e = openEngine(t, o)
	if n := e.Snapshot().Stats().Documents; n != 0 || !errors.Is(told, ErrOutdated) {
		t.Errorf("%d documents, told %v", n, told)
	}
}

// TestFullDisk: changes go on in memory up to the budget, then Apply says why
// it waits; queries go on; and all is well once there is room.
func TestFullDisk(t *testing.T) {
	mem := vfs.NewMem()
	var full atomic.Bool
	fault := &vfs.Fault{FS: mem, Before: func(op vfs.Op, _ string) error {
		if full.Load() && op == vfs.OpWrite {
			return errBroken
		}
		return nil
	}}
	o := durableOptions(fault)
	o.MemoryBudget = 100 << 10
	e := openEngine(t, o)
	apply(t, e, billing...)
	must(t, e.Flush(t.Context()))
	full.Store(true)
	files := newCorpus(5).files(100, 300)
	applied, err := 0, error(nil)
	for _, f := range files {
		if _, err = e.Apply(t.Context(), []Change{f}); err != nil {
			break
		}
		applied++
	}
	if !errors.Is(err, ErrStorage) || !errors.Is(err, errBroken) || applied == 0 {
		t.Fatalf("after %d files Apply returns %v", applied, err)
	}
	if n := e.Snapshot().Stats().Documents; n != 4+applied {
		t.Errorf("%d documents, not %d", n, 4+applied)
	}
	if r := search(t, e.Snapshot(), "billing", cosine); r.Total < 4 {
		t.Errorf("total %d on a full disk", r.Total)
	}
	if st := e.Snapshot().Stats(); !errors.Is(st.WriteError, errBroken) {
		t.Errorf("the statistics do not say why nothing is written: %v", st.WriteError)
	}
	full.Store(false)
	apply(t, e, files[applied:]...)
	must(t, e.Flush(t.Context()))
	if st := e.Snapshot().Stats(); st.WriteError != nil {
		t.Errorf("once there is room: %v", st.WriteError)
	}
	must(t, e.Close())
	o.FS = mem
	e = openEngine(t, o)
	if n := e.Snapshot().Stats().Documents; n != 104 {
		t.Errorf("%d documents after all", n)
	}
	must(t, e.Snapshot().Verify())
}

// TestFault cuts a mapped file short, so that reading it faults.
func TestFault(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped")
	}
	o := plainOptions()
	o.Dir = t.TempDir()
	var told error
	o.OnDamage = func(err error) { told = err }
	e := openEngine(t, o)
	apply(t, e, newCorpus(5).files(50, 2000)...)
	apply(t, e, billing...)
	must(t, e.Flush(t.Context()))
	must(t, os.Truncate(filepath.Join(o.Dir, fileName(1, segmentSuffix)), 4096))
	r := search(t, e.Snapshot(), "billing", cosine)
	if told == nil || !errors.Is(told, segment.ErrCorrupt) {
		t.Errorf("told %v", told)
	}
	if !r.Lost {
		t.Error("the answer does not say that documents are missing")
	}
	if r.Total != 0 || e.Snapshot().Stats().Documents != 0 {
		t.Errorf("total %d of a file that is gone", r.Total)
	}
	apply(t, e, billing...)
	if r := search(t, e.Snapshot(), "billing", cosine); r.Total != 4 || r.Lost {
		t.Errorf("total %d, lost %v", r.Total, r.Lost)
	}
}
