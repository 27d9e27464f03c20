//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// referenceVariable names the script that computes the answers slowly and
// simply: python3 $QUERN_REFERENCE check FOLDER --socket S --random N …
const referenceVariable = "QUERN_REFERENCE"

// tolerated is one in how many queries may differ: the script takes its
// logarithms from the C library, which may round the last bit otherwise, so that
// of two passages of a document with all but equal scores the other may be
// taken.
const tolerated = 300

// plainConfig is what the reference computes.
const plainConfig = `[[folder]]
path = "~/notes"

[analysis]
tokenizer = "plain"
stemmer = "none"
stopwords = "short"

[chunk]
`

// TestReference holds the daemon's answers against the reference's, before and
// after a storm of changes.
func TestReference(t *testing.T) {
	script := os.Getenv(referenceVariable)
	if script == "" {
		t.Skipf("%s names no reference script", referenceVariable)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the reference needs python3:", err)
	}
	script, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name, chunk string
		flags       []string
	}{
		{"paragraph", "strategy = \"paragraph\"\n", nil},
		{"window", "strategy = \"window\"\nmax_words = 60\noverlap = 20\n",
			[]string{"--strategy", "window", "--max-words", "60", "--overlap", "20"}},
		{"document", "strategy = \"document\"\n", []string{"--strategy", "document"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.write(".config/quern/config.toml", plainConfig+c.chunk)
			w := newWorld(t, s, uint64(i))
			if _, err := s.serve(s.home, s.env); err != nil {
				t.Fatal(err)
			}
			o := oracle{t: t, s: s, script: script, flags: c.flags}
			o.checkAll(1)
			w.storm(600)
			o.checkAll(2)
			if o.differ > o.asked/tolerated {
				t.Errorf("%d of %d queries differ", o.differ, o.asked)
			}
		})
	}
}

// oracle asks the reference script, and counts.
type oracle struct {
	t             *testing.T
	s             *sandbox
	script        string
	flags         []string
	asked, differ int
}

func (o *oracle) checkAll(seed int) {
	o.t.Helper()
	for _, model := range []string{"tfidf", "bm25"} {
		for _, collapse := range []string{"none", "document"} {
			if testing.Short() && (model == "bm25") != (collapse == "document") {
				continue
			}
			o.check(seed, model, collapse)
		}
	}
}

var verdict = regexp.MustCompile(`(?m)^(\d+) of (\d+) queries agree over (\d+) passages$`)

// check runs the reference's own comparison.
func (o *oracle) check(seed int, model, collapse string) {
	o.t.Helper()
	args := append([]string{o.script, "check", filepath.Join(o.s.home, "notes"), "--socket", o.s.socket(),
		"--random", "50", "--seed", strconv.Itoa(seed), "-k", "20", "--stopwords", "short",
		"--model", model, "--collapse", collapse}, o.flags...)
	cmd, cancel := o.s.command(o.s.home, "python3", args...)
	defer cancel()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		o.t.Fatalf("run the reference: %v", err)
	}
	m := verdict.FindStringSubmatch(string(out))
	if m == nil || strings.Contains(string(out), "passages: daemon") || m[2] == "0" {
		o.t.Fatalf("the reference, %s, collapse %s: %v\n%s", model, collapse, err, out)
	}
	agree, _ := strconv.Atoi(m[1])
	asked, _ := strconv.Atoi(m[2])
	o.asked, o.differ = o.asked+asked, o.differ+asked-agree
	if agree != asked {
		o.t.Logf("%s, collapse %s:\n%s", model, collapse, out)
	}
}

// world is a folder of text files under change.
type world struct {
	t      *testing.T
	root   string
	random *rand.Rand
	files  []string // relative paths
	made   int      // names given so far
}

func newWorld(t *testing.T, s *sandbox, seed uint64) *world {
	w := &world{t: t, root: filepath.Join(s.home, "notes"), random: rand.New(rand.NewPCG(seed, 7))}
	for range 300 {
		w.create()
	}
	return w
}

// storm changes files in every way, without ever waiting.
func (w *world) storm(steps int) {
	for range steps {
		switch n := w.random.IntN(10); {
		case n < 3:
			w.create()
		case n < 6:
			w.put(w.any(), w.text())
		case n < 7:
			w.appendTo(w.any())
		case n < 9:
			w.rename()
		default:
			w.remove()
		}
	}
	w.renameDirectory()
}

func (w *world) any() string { return w.files[w.random.IntN(len(w.files))] }

func (w *world) create() {
	name := w.name()
	w.files = append(w.files, name)
	w.put(name, w.text())
}

// name is a new path in one of a few directories.
func (w *world) name() string {
	w.made++
	dir := []string{"", "a", "a/b", "c/ü", "d"}[w.random.IntN(5)]
	return filepath.Join(dir, fmt.Sprintf("f%d.txt", w.made))
}

func (w *world) put(rel, text string) {
	path := filepath.Join(w.root, rel)
	w.check(os.MkdirAll(filepath.Dir(path), 0o700))
	w.check(os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) appendTo(rel string) {
	f, err := os.OpenFile(filepath.Join(w.root, rel), os.O_WRONLY|os.O_APPEND, 0)
	w.check(err)
	_, err = f.WriteString("\n\n" + w.text())
	w.check(errors.Join(err, f.Close()))
}

// rename moves a file to a new name, or over another file.
func (w *world) rename() {
	i := w.random.IntN(len(w.files))
	from, to := w.files[i], w.name()
	if w.random.IntN(4) == 0 {
		j := w.random.IntN(len(w.files))
		if i == j {
			return
		}
		to = w.files[j]
		w.files[j] = w.files[len(w.files)-1]
		if i == len(w.files)-1 {
			i = j
		}
		w.files = w.files[:len(w.files)-1]
	}
	w.check(os.MkdirAll(filepath.Dir(filepath.Join(w.root, to)), 0o700))
	w.check(os.Rename(filepath.Join(w.root, from), filepath.Join(w.root, to)))
	w.files[i] = to
}

func (w *world) remove() {
	i := w.random.IntN(len(w.files))
	w.check(os.Remove(filepath.Join(w.root, w.files[i])))
	w.files[i] = w.files[len(w.files)-1]
	w.files = w.files[:len(w.files)-1]
}

// renameDirectory moves a whole tree, and writes into it at once.
func (w *world) renameDirectory() {
	w.check(os.Rename(filepath.Join(w.root, "a"), filepath.Join(w.root, "moved")))
	w.put("moved/b/last.txt", w.text())
	w.put("a/new.txt", w.text())
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// text is some paragraphs of words, frequent ones and rare ones.
func (w *world) text() string {
	var b strings.Builder
	for n := w.random.IntN(300); n >= 0; n-- {
		b.WriteString(w.word())
		b.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". ", "\n", "\n\n", " \t\n \n", "\r\n"}[w.random.IntN(11)])
	}
	return b.String()
}

func (w *world) word() string {
	n := int(w.random.ExpFloat64() * 150)
	switch n % 11 {
	case 0:
		return []string{"the", "and", "Of", "A"}[n/11%4]
	case 1:
		return fmt.Sprintf("Größe%d", n)
	case 2:
		return fmt.Sprintf("word-%d's", n)
	}
	return fmt.Sprintf("w%d", n)
}
