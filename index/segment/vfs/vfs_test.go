package vfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, f FS, name, text string, sync bool) {
	t.Helper()
	w, err := f.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(f FS, name string) (string, error) {
	m, err := f.Map(name)
	if err != nil {
		return "", err
	}
	s := string(m.Data)
	return s, m.Close()
}

// TestSame holds both file systems to one script.
func TestSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	real, err := NewOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]FS{"os": real, "mem": NewMem(), "fault": &Fault{FS: NewMem(), Before: func(Op, string) error { return nil }}} {
		t.Run(name, func(t *testing.T) { script(t, f) })
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "b"): 0o600, filepath.Join(dir, "lock"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s has mode %v, not %v (%v)", path, st.Mode(), want, err)
		}
	}
}

func script(t *testing.T, f FS) {
	write(t, f, "a", "first", true)
	write(t, f, "a", "one", true)
	write(t, f, "empty", "", true)
	if s, err := content(f, "a"); s != "one" || err != nil {
		t.Errorf("a holds %q, %v", s, err)
	}
	if s, err := content(f, "empty"); s != "" || err != nil {
		t.Errorf("empty holds %q, %v", s, err)
	}
	old, err := f.Map("a")
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "b", "two", true)
	if err := errors.Join(f.Rename("a", "b"), f.Remove("empty"), f.SyncDir()); err != nil {
		t.Error(err)
	}
	if err := f.Remove("b"); err != nil || string(old.Data) != "one" {
		t.Errorf("a removed file is not readable through its map: %q, %v", old.Data, err)
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	write(t, f, "b", "three", false)
	list, err := f.List()
	if err != nil || len(list) != 1 || list[0] != (Info{"b", 5}) {
		t.Errorf("List gives %v, %v", list, err)
	}
	for _, err := range []error{f.Remove("x"), f.Rename("x", "y"), mapErr(f, "x")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file gives %v", err)
		}
	}
	l, err := f.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lock("lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock gives %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	l, err = f.Lock("lock")
	if err != nil {
		t.Fatalf("a lock given back is not to be had: %v", err)
	}
	l.Close()
}

func mapErr(f FS, name string) error {
	_, err := f.Map(name)
	return err
}

// TestCrash: what was synced is there for certain, the rest in any state that a
// disk may leave, and each of them at some time.
func TestCrash(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(300) {
		m := NewMem()
		write(t, m, "kept", "kept", true)
		if err := m.SyncDir(); err != nil {
			t.Fatal(err)
		}
		write(t, m, "new", "synced", true)
		write(t, m, "torn", "0123456789", false)
		if err := m.Rename("new", "kept"); err != nil {
			t.Fatal(err)
		}
		after := m.Crash(rand.New(rand.NewPCG(seed, 0)))
		s, err := content(after, "kept")
		if err != nil || s != "kept" && s != "synced" {
			t.Fatalf("kept holds %q, %v", s, err)
		}
		seen["kept="+s] = true
		torn, err := content(after, "torn")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			seen["no torn"] = true
		case strings.HasPrefix("0123456789", torn):
			seen["torn short"] = seen["torn short"] || len(torn) < 10
		default:
			seen["torn garbage"] = true
		}
	}
	for _, want := range []string{"kept=kept", "kept=synced", "no torn", "torn short", "torn garbage"} {
		if !seen[want] {
			t.Errorf("300 crashes never left %q", want)
		}
	}
}

func TestFault(t *testing.T) {
	boom := errors.New("boom")
	var at Op
	mem := NewMem()
	f := &Fault{FS: mem, Before: func(op Op, _ string) error {
		if op == at {
			return boom
		}
		return nil
	}}
	w, err := f.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[Op]func() error{
		OpCreate:  func() error { _, err := f.Create("b"); return err },
		OpWrite:   func() error { _, err := w.Write([]byte("1234")); return err },
		OpSync:    w.Sync,
		OpMap:     func() error { _, err := f.Map("a"); return err },
		OpRename:  func() error { return f.Rename("a", "b") },
		OpRemove:  func() error { return f.Remove("a") },
		OpList:    func() error { _, err := f.List(); return err },
		OpSyncDir: f.SyncDir,
		OpLock:    func() error { _, err := f.Lock("l"); return err },
	}
	for op, call := range calls {
		if at = op; !errors.Is(call(), boom) {
			t.Errorf("%s did not fail", op)
		}
	}
	if at = OpClose; !errors.Is(w.Close(), boom) {
		t.Error("close did not fail")
	}
	if s, err := content(mem, "a"); s != "12" || err != nil {
		t.Errorf("a failed write of four bytes left %q, %v", s, err)
	}
}
