package daemon_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quern/ipc"
)

// After any storm of changes, a running daemon answers bit for bit as one that
// is started on the files as they are then.
func TestAfterAStormTheAnswersAreThoseOfAFreshIndex(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			h := start(t, "")
			s := &storm{t: t, root: h.notes, r: rand.New(rand.NewPCG(seed, 1))}
			for range 3 {
				for range 150 {
					s.step()
				}
				compare(t, h)
			}
		})
	}
}

// compare holds the answers of h against those of a fresh daemon.
func compare(t *testing.T, h *harness) {
	t.Helper()
	t.Run("fresh", func(t *testing.T) {
		fresh := startOn(t, shortDir(t), h.notes, "[[folder]]\npath = \""+h.notes+"\"\n")
		for _, model := range []string{"tfidf", "bm25"} {
			for _, collapse := range []string{"none", "document"} {
				for _, query := range stormQueries {
					p := ipc.SearchParams{
						Query: query, K: 50, Model: model, Collapse: collapse,
						Sync: true, SyncTimeoutMS: int(patience.Milliseconds()),
					}
					a, b := call[ipc.SearchResult](h, ipc.MethodSearch, p), call[ipc.SearchResult](fresh, ipc.MethodSearch, p)
					a.Generation, a.TookUS, a.Pending = b.Generation, b.TookUS, b.Pending
					if !reflect.DeepEqual(a, b) {
						t.Fatalf("%s %s %q:\nlive  %+v\nfresh %+v", model, collapse, query, a, b)
					}
				}
			}
		}
	})
}

var stormWords = strings.Fields("apple banana cherry date elder fig grape the and of")

var stormQueries = append([]string{"apple banana", "the of and", "cherry cherry fig", "none"}, stormWords...)

// storm changes a directory tree at random, as people and programs do.
type storm struct {
	t    *testing.T
	root string
	r    *rand.Rand
	n    int
}

func (s *storm) step() {
	s.n++
	steps := []func() error{
		s.create, s.create, s.create, s.edit, s.edit, s.edit, s.appendTo, s.rewrite, s.rename, s.rename,
		s.remove, s.truncate, s.makeDeep, s.renameDir, s.removeDir, s.hide,
	}
	// A step may find nothing to do, or its place taken.
	if err := steps[s.r.IntN(len(steps))](); err != nil && !os.IsNotExist(err) && !os.IsExist(err) {
		s.t.Logf("step %d: %v", s.n, err)
	}
}

// text is a few paragraphs of few different words, so that scores tie.
func (s *storm) text() string {
	var b strings.Builder
	for range 1 + s.r.IntN(5) {
		if s.r.IntN(4) == 0 {
			fmt.Fprintf(&b, "# %s\n\n", stormWords[s.r.IntN(len(stormWords))])
		}
		for range s.r.IntN(60) {
			b.WriteString(stormWords[s.r.IntN(len(stormWords))] + " ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

func (s *storm) all(dirs bool) []string {
	var out []string
	_ = filepath.WalkDir(s.root, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() == dirs && path != s.root {
			out = append(out, path)
		}
		return nil
	})
	slices.Sort(out)
	return out
}

func (s *storm) file() string { return s.pick(s.all(false)) }
func (s *storm) dir() string  { return s.pick(append(s.all(true), s.root)) }

func (s *storm) pick(from []string) string {
	if len(from) == 0 {
		return filepath.Join(s.root, "nothing")
	}
	return from[s.r.IntN(len(from))]
}

func (s *storm) name(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("f%d.%s", s.r.IntN(20), []string{"txt", "md"}[s.r.IntN(2)]))
}

func (s *storm) create() error {
	if s.r.IntN(4) == 0 {
		return s.pack()
	}
	return os.WriteFile(s.name(s.dir()), []byte(s.text()), 0o600)
}

// pack writes an archive, over one that is there perhaps.
func (s *storm) pack() error {
	var files []string
	for range s.r.IntN(4) {
		files = append(files, fmt.Sprintf("m%d.%s", s.r.IntN(3), []string{"txt", "md"}[s.r.IntN(2)]), s.text())
	}
	if s.r.IntN(3) == 0 {
		files = append(files, "in.zip", zipped("m.txt", s.text()))
	}
	return os.WriteFile(filepath.Join(s.dir(), fmt.Sprintf("z%d.zip", s.r.IntN(6))), []byte(zipped(files...)), 0o600)
}

func (s *storm) edit() error {
	path := s.file()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := s.r.IntN(len(data) + 1)
	return os.WriteFile(path, slices.Concat(data[:at], []byte(" "+s.pick(stormWords)+" "), data[at:]), 0o600)
}

func (s *storm) appendTo() error {
	f, err := os.OpenFile(s.file(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n\n" + s.text())
	f.Close()
	return err
}

func (s *storm) rewrite() error {
	path := s.file()
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(s.text()), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func (s *storm) rename() error { return os.Rename(s.file(), s.name(s.dir())) }
func (s *storm) remove() error { return os.Remove(s.file()) }
func (s *storm) renameDir() error {
	return os.Rename(s.dir(), filepath.Join(s.dir(), fmt.Sprint("d", s.r.IntN(9))))
}

func (s *storm) truncate() error {
	path := s.file()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}

func (s *storm) makeDeep() error {
	dir := filepath.Join(s.dir(), fmt.Sprint("d", s.r.IntN(9)), "x", "y")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.name(dir), []byte(s.text()), 0o600)
}

func (s *storm) removeDir() error {
	if dir := s.dir(); dir != s.root && s.r.IntN(3) == 0 {
		return os.RemoveAll(dir)
	}
	return nil
}

// hide gives a file a name that is not indexed, or takes it back.
func (s *storm) hide() error {
	path := s.file()
	if base := filepath.Base(path); strings.HasPrefix(base, ".") {
		return os.Rename(path, filepath.Join(filepath.Dir(path), base[1:]))
	} else {
		return os.Rename(path, filepath.Join(filepath.Dir(path), "."+base))
	}
}
