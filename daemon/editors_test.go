package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quern/ipc"
)

// saves are the ways in which programs save a file: each makes note.txt hold the
// words, and may leave other files. A way that needs a program names it first.
var saves = []struct {
	name, program string
	script        string // by sh, in the folder, with $words
}{
	{"in place, as VS Code", "", `printf '%s\n' "$words" >note.txt`},
	{"vim, backupcopy=no", "vim", `vim -es -u NONE -i NONE -c 'set backup writebackup backupcopy=no' -c "call setline(1, '$words')" -c 'wq!' note.txt`},
	{"vim, backupcopy=yes", "vim", `vim -es -u NONE -i NONE -c 'set backup writebackup backupcopy=yes' -c "call setline(1, '$words')" -c 'wq!' note.txt`},
	{"vim, no backup", "vim", `vim -es -u NONE -i NONE -c 'set nowritebackup' -c "call setline(1, '$words')" -c 'wq!' note.txt`},
	{"emacs, backup by renaming", "emacs", emacs("nil")},
	{"emacs, backup by copying", "emacs", emacs("t")},
	{"sed -i", "sed", `sed -i "s/.*/$words/" note.txt`},
	{"LibreOffice: lock file, temporary file, rename", "", `printf ',host,user;' >'.~lock.note.txt#'
		printf '%s\n' "$words" >lu4711.tmp; mv lu4711.tmp note.txt; rm '.~lock.note.txt#'`},
	{"rsync", "rsync", `printf '%s\n' "$words" >../new.txt; rsync --checksum ../new.txt note.txt`},
	{"rsync --inplace", "rsync", `printf '%s\n' "$words" >../new.txt; rsync --checksum --inplace ../new.txt note.txt`},
	{"tar", "tar", `mkdir -p ../t; printf '%s\n' "$words" >../t/note.txt; tar -C ../t -cf ../t.tar note.txt; tar -xf ../t.tar`},
	{"unzip", "unzip", `mkdir -p ../z; printf '%s\n' "$words" >../z/note.txt; (cd ../z; rm -f n.zip; python3 -m zipfile -c n.zip note.txt); unzip -qo ../z/n.zip`},
	{"cp -p, an older time", "", `printf '%s\n' "$words" >../old.txt; touch -d 2001-01-01 ../old.txt; cp -p ../old.txt note.txt`},
	{"mv from elsewhere", "", `printf '%s\n' "$words" >../other.txt; mv ../other.txt note.txt`},
	{"removed and made anew", "", `rm note.txt; printf '%s\n' "$words" >note.txt`},
	{"a hard link outside is written through", "", `ln -f note.txt ../link.txt; printf '%s\n' "$words" >../link.txt; ls >/dev/null`},
	{"appended after a truncation", "", `: >note.txt; for w in $words; do printf '%s ' "$w" >>note.txt; done`},
}

// emacs saves through its own machinery: lock file, backup, and the old file
// renamed away or copied.
func emacs(byCopying string) string {
	return `emacs -Q --batch --eval "(progn (setq make-backup-files t backup-by-copying ` + byCopying + ` create-lockfiles t)
		(find-file \"note.txt\") (erase-buffer) (insert \"$words\n\") (save-buffer))" 2>/dev/null`
}

// What any program saves is found at once, in note.txt alone: its backups, locks
// and temporary files never are.
func TestSavesOfEditors(t *testing.T) {
	h := start(t, "")
	h.write("note.txt", "first")
	h.sync()
	for i, way := range saves {
		t.Run(way.name, func(t *testing.T) {
			h.t = t
			for _, program := range []string{"sh", way.program} {
				if _, err := exec.LookPath(program); program != "" && err != nil {
					t.Skipf("%s is not installed", program)
				}
			}
			if strings.Contains(way.script, "python3") {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip("python3 is not installed")
				}
			}
			h.write("note.txt", "before")
			h.sync()
			cmd := exec.Command("sh", "-ec", way.script)
			cmd.Dir = h.notes
			word := fmt.Sprintf("saved%d", i)
			cmd.Env = append(os.Environ(), "words="+word+" banana", "TERM=dumb", "HOME="+h.dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if strings.Contains(way.script, "link.txt") {
				// Its event is of a directory that is not watched: the audit is to find it.
				call[ipc.ReindexResult](h, ipc.MethodReindex, ipc.ReindexParams{Path: h.path("note.txt")})
			}
			if got := rels(h.search(word)); got != "note.txt" {
				entries, _ := filepath.Glob(filepath.Join(h.notes, "*"))
				t.Errorf("found in %q; there are %q", got, entries)
			}
			if got := rels(h.search("before")); got != "" {
				t.Errorf("what was before is found in %q", got)
			}
		})
	}
	h.t = t
	compare(t, h)
}

// A checkout of a branch with other files, and back, and a repository taken away
// and unpacked again, leave the index of a fresh start.
func TestCheckoutAndUnpack(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	h := start(t, "")
	run := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = h.notes
		cmd.Env = append(os.Environ(), "HOME="+h.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run(`git init -q -b one; for d in a b c; do mkdir $d; for i in $(seq 60); do echo "apple $d $i" >$d/$i.txt; done; done
		git add .; git commit -qm one
		git checkout -q -b two; git rm -qr b; for d in a d; do mkdir -p $d; for i in $(seq 60); do echo "banana $d $i" >$d/$i.txt; done; done
		git add .; git commit -qm two`)
	expect := func(query string, n int) {
		t.Helper()
		r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: query, K: 1000, Sync: true, SyncTimeoutMS: int(patience.Milliseconds())})
		if r.Stale || len(r.Hits) != n {
			t.Errorf("%s: %d hits, want %d (stale %t)", query, len(r.Hits), n, r.Stale)
		}
	}
	for range 3 {
		run(`git checkout -q one`)
		expect("apple", 180)
		expect("banana", 0)
		run(`git checkout -q two`)
		expect("apple", 60)
		expect("banana", 120)
	}
	run(`tar -cf ../all.tar a c d; rm -rf a c d; tar -xf ../all.tar; rm -rf a; tar -xf ../all.tar`)
	expect("apple", 60)
	expect("banana", 120)
	compare(t, h)
}

// Only directories that can hold files to index are watched.
func TestWatchBudget(t *testing.T) {
	h := start(t, "include = [\"docs/**/*.md\"]\n")
	for _, name := range []string{"docs/a/b/x.md", "docs/c/y.md", "src/d/e/f/z.md", "docs/node_modules/p/q/r.md", ".git/objects/aa/bb.md"} {
		h.write(name, "apple")
	}
	if got := rels(h.search("apple")); got != "docs/a/b/x.md docs/c/y.md" {
		t.Fatalf("found %q", got)
	}
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	// The folder, docs, docs/a, docs/a/b and docs/c.
	if s.Watches.Used != 5 {
		t.Errorf("%d directories are watched, want 5", s.Watches.Used)
	}
}
