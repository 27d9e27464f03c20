package daemon_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quern/daemon"
	"quern/ipc"
)

// person is a user of the machine: one that the accounts need not know.
type person struct {
	uid, gid uint32
	others   []uint32
}

var people = []person{{2001, 3001, nil}, {2002, 3002, []uint32{3001}}, {2003, 3003, []uint32{3004, 3002}}}

// office is a daemon for all users, over a tree of many owners.
type office struct {
	t       *testing.T
	r       *rand.Rand
	base    string // of everything; all may enter it
	dir     string // of the daemon, and of the tree
	visitor string // the test binary, for all to run
	h       *harness
	n       int // files made
}

// newOffice skips the test where no other user can be had.
func newOffice(t *testing.T, seed uint64) *office {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to become other users")
	}
	base := shortDir(t)
	o := &office{t: t, r: rand.New(rand.NewPCG(seed, 7)), base: base, dir: filepath.Join(base, "a"), visitor: filepath.Join(base, "visitor")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.must(os.Chmod(base, 0o755))
	o.must(os.Mkdir(o.dir, 0o755))
	o.must(os.Mkdir(o.path(""), 0o755))
	o.must(os.Mkdir(o.path("notes"), 0o755))
	o.must(os.Mkdir(o.path("notes/team"), 0o755))
	o.must(os.Mkdir(o.path("papers"), 0o755))
	data, err := os.ReadFile(self)
	o.must(err)
	o.must(os.WriteFile(o.visitor, data, 0o755))
	out, err := o.command(people[0], errand{}).CombinedOutput()
	if err != nil {
		t.Skipf("no other user can be had here: %v %s", err, out)
	}
	return o
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// path is one in the tree, whose top lies below what the folders' permissions are.
func (o *office) path(rel string) string { return filepath.Join(o.dir, "home", rel) }

// folderTables are the folders of the config below a top; the team's is for a group,
// and lies in another.
func folderTables(top string, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "[[folder]]\npath = %q\n", filepath.Join(top, "home", name))
		if name == "notes/team" {
			b.WriteString("users = [\"2003\"]\ngroups = [\"3001\"]\n")
		}
	}
	return b.String()
}

func (o *office) open() {
	o.t.Helper()
	o.h = startWith(o.t, o.dir, o.path("notes"), folderTables(o.dir, "notes", "notes/team", "papers")+
		"[daemon]\nusers = \"all\"\n", daemon.Options{})
}

func (o *office) command(p person, e errand) *exec.Cmd {
	in, err := json.Marshal(e)
	o.must(err)
	cmd := exec.Command(o.visitor)
	cmd.Env = []string{visitorVariable + "=1"}
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(in)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.uid, Gid: p.gid, Groups: p.others}}
	return cmd
}

// send has a process of the person's do the errand.
func (o *office) send(p person, e errand) findings {
	o.t.Helper()
	cmd := o.command(p, e)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		o.t.Fatalf("%+v: %v: %s", p, err, said.String())
	}
	var f findings
	o.must(json.Unmarshal(out, &f))
	return f
}

var words = strings.Fields("billing refund invoice plan card renew support team month year approve original account ledger kernel quartz zebra mango violet")

// text is a few paragraphs, with headings.
func (o *office) text() string {
	var b strings.Builder
	for range 1 + o.r.IntN(3) {
		fmt.Fprintf(&b, "# %s\n\n", words[o.r.IntN(len(words))])
		for range 10 + o.r.IntN(60) {
			b.WriteString(words[o.r.IntN(len(words))] + " ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// all are the paths of the tree, directories apart.
func (o *office) all() (dirs, files []string) {
	o.must(filepath.WalkDir(o.path(""), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
		return nil
	}))
	return dirs, files
}

// change does one random thing to the tree.
func (o *office) change() {
	dirs, files := o.all()
	dir := dirs[1+o.r.IntN(len(dirs)-1)]
	any := append(slices.Clone(dirs), files...)
	o.n++
	switch k := o.r.IntN(12); {
	case k < 2 || len(files) < 12:
		path := filepath.Join(dir, fmt.Sprintf("f%d.md", o.n))
		o.must(os.WriteFile(path, []byte(o.text()), 0o600))
		o.shut(path)
	case k == 2 && len(dirs) < 14:
		path := filepath.Join(dir, fmt.Sprintf("d%d", o.n))
		o.must(os.Mkdir(path, 0o755))
		o.shut(path)
	case k == 3:
		from := files[o.r.IntN(len(files))]
		o.must(os.Rename(from, filepath.Join(dir, fmt.Sprintf("m%d.md", o.n))))
	case k == 4:
		o.must(os.WriteFile(files[o.r.IntN(len(files))], []byte(o.text()), 0o600))
	case k == 5:
		o.must(os.Remove(files[o.r.IntN(len(files))]))
	case k == 6:
		path := filepath.Join(dir, ".gitignore")
		o.must(os.WriteFile(path, fmt.Appendf(nil, "*%d.md\n", o.r.IntN(10)), 0o600))
		o.shut(path)
	default:
		o.shut(any[o.r.IntN(len(any))])
	}
}

// shut gives a file or directory a random owner, group, mode and list.
func (o *office) shut(path string) {
	info, err := os.Lstat(path)
	o.must(err)
	o.must(os.Chown(path, int(2001+o.r.IntN(3)), int(3001+o.r.IntN(4))))
	mode := fs.FileMode(o.r.IntN(512))
	if info.IsDir() && o.r.IntN(4) > 0 {
		mode |= 0o111
	}
	o.must(os.Chmod(path, mode))
	if o.r.IntN(4) == 0 {
		o.list(path)
	}
}

// list gives a path an access control list: see acl(5).
func (o *office) list(path string) {
	const none = ^uint32(0)
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct{ tag, id uint32 }{{1, none}, {2, 2002}, {4, none}, {8, 3001}, {8, 3004}, {16, none}, {32, none}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e.tag))
		b = binary.LittleEndian.AppendUint16(b, uint16(o.r.IntN(8)))
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	if err := unix.Lsetxattr(path, "system.posix_acl_access", b, 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
		o.t.Fatal(err)
	}
}

// mirror makes the tree anew below base/b, of the files alone that the person can read:
// by the word of the kernel. It returns the folders that the person has.
func (o *office) mirror(p person) (top string, folders []string) {
	top = filepath.Join(o.base, "b")
	o.must(os.RemoveAll(top))
	_, files := o.all()
	roots := []string{"notes", "notes/team", "papers"}
	team := p.uid == 2003 || p.gid == 3001 || slices.Contains(p.others, 3001)
	if !team {
		roots = slices.Delete(roots, 1, 2)
	}
	// A folder can be entered if a file in it can be read that is for all.
	probes := make([]string, len(roots))
	for i, root := range roots {
		probes[i] = filepath.Join(o.path(root), ".probe.tmp")
		o.must(os.WriteFile(probes[i], nil, 0o644))
		o.must(os.Chmod(probes[i], 0o644))
	}
	found := o.send(p, errand{Paths: append(slices.Clone(files), probes...)}).Readable
	for i, root := range roots {
		o.must(os.Remove(probes[i]))
		if found[len(files)+i] {
			o.must(os.MkdirAll(filepath.Join(top, "home", root), 0o755))
			folders = append(folders, root)
		}
	}
	for i, from := range files {
		if found[i] && (team || !strings.HasPrefix(from, o.path("notes/team")+"/")) {
			o.copy(from, top+strings.TrimPrefix(from, o.dir))
		}
	}
	return top, folders
}

func (o *office) copy(from, to string) {
	data, err := os.ReadFile(from)
	o.must(err)
	info, err := os.Stat(from)
	o.must(err)
	o.must(os.MkdirAll(filepath.Dir(to), 0o755))
	o.must(os.WriteFile(to, data, 0o600))
	o.must(os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// questions are what a person asks, of a tree below top.
func (o *office) questions(top string) []ask {
	patient := int(patience.Milliseconds())
	out := []ask{{ipc.MethodSync, ipc.SyncParams{TimeoutMS: patient}}}
	for _, model := range []string{"tfidf", "bm25", "best"} {
		for _, query := range []string{"billing refund", "zebra", "quarz", "kernell mango", "violt*", `"card renew" -plan`} {
			out = append(out, ask{ipc.MethodSearch, ipc.SearchParams{Query: query, K: 100, Model: model, Sync: true, SyncTimeoutMS: patient, Explain: true}})
		}
	}
	out = append(out,
		ask{ipc.MethodSearch, ipc.SearchParams{Query: "billing", Folders: []string{"team"}}},
		ask{ipc.MethodRecent, ipc.RecentParams{K: 200}},
		ask{ipc.MethodFoldersList, nil},
		ask{ipc.MethodStatus, ipc.StatusParams{}},
		ask{ipc.MethodSimilar, ipc.SimilarParams{Text: "invoice ledger zebra"}})
	_, files := o.all()
	for _, f := range files {
		f = top + strings.TrimPrefix(f, o.dir)
		if strings.HasPrefix(filepath.Base(f), ".") {
			continue
		}
		out = append(out,
			ask{ipc.MethodPassages, ipc.PassagesParams{Path: f}},
			ask{ipc.MethodSimilar, ipc.SimilarParams{Path: f}},
			ask{ipc.MethodExplain, ipc.ExplainParams{Query: "zebra", Path: f}},
			ask{ipc.MethodStatus, ipc.StatusParams{Path: f}})
	}
	return out
}

// apart are the members of answers that tell of the process, its time or its history.
var apart = []string{"generation", "took_us", "pid", "started", "socket", "config", "memory_bytes", "instance", "index",
	"counters", "freshness", "watches", "progress"}

// plain is an answer without these, with its paths below a top that is no one's.
func plain(t *testing.T, a answer, top string) string {
	if a.Result == nil {
		return strings.ReplaceAll(fmt.Sprint(a.Code, " ", a.Error), top, "TOP")
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(a.Result))
	d.UseNumber() // scores as they came, digit for digit
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok {
		for _, k := range apart {
			delete(m, k)
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), top, "TOP")
}

// compare asks as each person, and an index of that one's files alone.
func (o *office) compare(when string) {
	o.t.Helper()
	for _, p := range people {
		questions := o.questions(o.dir)
		got := o.send(p, errand{Socket: o.h.socket, Calls: questions, Rest: true}).Answers
		top, folders := o.mirror(p)
		alone := startWith(o.t, top, filepath.Join(top, "home"), folderTables(top, folders...), daemon.Options{})
		want, err := askAll(alone.socket, o.questions(top), true)
		o.must(err)
		alone.stop()
		for i := range want {
			g, w := plain(o.t, got[i], o.dir), plain(o.t, want[i], top)
			if g != w {
				params, _ := json.Marshal(questions[i].Params)
				at := 0
				for at < min(len(g), len(w)) && g[at] == w[at] {
					at++
				}
				from := max(0, at-200)
				o.t.Fatalf("%s, %+v: %s %s, from byte %d on:\ngot  %.600s\nwant %.600s", when, p, questions[i].Method, params, from, g[min(from, len(g)):], w[min(from, len(w)):])
			}
		}
	}
}

// TestNoInterference: for each user, whatever the modes, owners, groups and lists of
// files and directories are and become, the daemon for all answers bit for bit as one
// that has that user's readable files alone.
func TestNoInterference(t *testing.T) {
	const rounds = 2
	for seed := range uint64(2) {
		if seed > 0 && testing.Short() {
			break
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := newOffice(t, seed)
			for range 60 {
				o.change()
			}
			o.open()
			for round := range rounds {
				o.compare(fmt.Sprint("round ", round))
				for range 1 + o.r.IntN(20) {
					o.change()
				}
			}
			o.compare("after all rounds")
			o.h.stop()
			for range 8 {
				o.change()
			}
			o.open()
			o.compare("after a restart")
		})
	}
}

// TestOwnersMethods: another user changes nothing that others see.
func TestOwnersMethods(t *testing.T) {
	o := newOffice(t, 1)
	o.must(os.WriteFile(o.path("papers/mine.md"), []byte("zebra"), 0o600))
	o.must(os.Chown(o.path("papers/mine.md"), 2001, 3001))
	o.must(os.WriteFile(o.path("papers/hers.md"), []byte("zebra quartz"), 0o600))
	o.open()
	got := o.send(people[0], errand{Socket: o.h.socket, Calls: []ask{
		{ipc.MethodFoldersAdd, ipc.FolderParams{Path: "/etc"}},
		{ipc.MethodFoldersAdd, ipc.FolderParams{Path: "/etc", Temporary: true}},
		{ipc.MethodFoldersRemove, ipc.FolderParams{Path: o.path("papers")}},
		{ipc.MethodVerify, nil}, {ipc.MethodPause, nil}, {ipc.MethodResume, nil}, {ipc.MethodReload, nil}, {ipc.MethodShutdown, nil},
		{ipc.MethodReindex, ipc.ReindexParams{Path: o.path("papers/mine.md")}},
		{ipc.MethodReindex, ipc.ReindexParams{Path: o.path("papers/hers.md")}},
		{ipc.MethodReindex, ipc.ReindexParams{Path: o.path("papers/none.md")}},
	}}).Answers
	for i, a := range got[:8] {
		if a.Code != ipc.CodeNotPermitted {
			t.Errorf("call %d: %+v", i, a)
		}
	}
	if got[8].Error != "" {
		t.Errorf("reindex of a file of one's own: %+v", got[8])
	}
	hidden, none := strings.ReplaceAll(got[9].Error, "hers", "none"), got[10].Error
	if got[9].Code != ipc.CodeNotFound || hidden != none {
		t.Errorf("reindex tells a file that cannot be read from none: %q, %q", hidden, none)
	}
	if r := o.h.search("zebra"); len(r.Hits) != 2 {
		t.Errorf("the owner finds %s", rels(r))
	}
}

// TestVisitorsAreNotToldOfOthersWork: what goes on with files that a user cannot read
// shows in nothing that the user is told.
func TestVisitorsAreNotToldOfOthersWork(t *testing.T) {
	o := newOffice(t, 1)
	o.must(os.WriteFile(o.path("papers/mine.md"), []byte("zebra"), 0o644))
	o.must(os.Chmod(o.path("papers/mine.md"), 0o644))
	o.open()
	status := func() string {
		got := o.send(people[0], errand{Socket: o.h.socket, Calls: []ask{
			{ipc.MethodSync, nil}, {ipc.MethodStatus, nil}, {ipc.MethodHello, ipc.HelloParams{}}}}).Answers
		return plainStatus(t, got[1]) + string(got[2].Result)
	}
	status() // the first index
	before := status()
	for i := range 200 {
		write(t, o.path(fmt.Sprintf("papers/secret%d.md", i)), o.text())
	}
	mkdir(t, o.path("papers/closed/below"))
	write(t, o.path("papers/closed/below/x.md"), o.text())
	if r := o.h.search("billing"); len(r.Hits) == 0 {
		t.Fatal("the owner finds nothing")
	}
	if after := status(); after != before {
		t.Errorf("the status tells:\n%s\n%s", before, after)
	}
}

// plainStatus is a status without what time brings: the user's own index is committed.
func plainStatus(t *testing.T, a answer) string {
	var m map[string]any
	if err := json.Unmarshal(a.Result, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "index")
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRevokedWhileAway: an index of before is not answered from until it has nothing
// that was taken back meanwhile, also without sync.
func TestRevokedWhileAway(t *testing.T) {
	o := newOffice(t, 1)
	path := o.path("papers/secret.md")
	o.must(os.WriteFile(path, []byte("zebra"), 0o644))
	o.must(os.Chmod(path, 0o644))
	o.open()
	find := func(sync bool) string {
		got := o.send(people[0], errand{Socket: o.h.socket, Calls: []ask{
			{ipc.MethodSearch, ipc.SearchParams{Query: "zebra", Sync: sync, SyncTimeoutMS: int(patience / time.Millisecond)}}}}).Answers[0]
		var r ipc.SearchResult
		o.must(json.Unmarshal(got.Result, &r))
		return fmt.Sprint(r.Passages, rels(r))
	}
	if got := find(true); got != "1secret.md" && got != "1 secret.md" {
		t.Fatalf("found %q", got)
	}
	o.h.stop()
	o.must(os.Chmod(path, 0o600))
	o.open()
	if got := strings.TrimSpace(find(false)); got != "0" {
		t.Errorf("found %q after it was taken back", got)
	}
}

// TestClosedFolders: a folder that cannot be entered, or is for others, is not told of;
// permissions above it count from the next sync on.
func TestClosedFolders(t *testing.T) {
	o := newOffice(t, 1)
	o.open()
	names := func(p person) string {
		got := o.send(p, errand{Socket: o.h.socket, Calls: []ask{{ipc.MethodSync, nil}, {ipc.MethodFoldersList, nil}}}).Answers[1]
		var r ipc.FoldersResult
		o.must(json.Unmarshal(got.Result, &r))
		var out []string
		for _, f := range r.Folders {
			out = append(out, f.Name)
		}
		return strings.Join(out, " ")
	}
	stranger := person{2009, 3009, nil}
	for _, step := range []struct {
		path            string
		mode            fs.FileMode
		member, foreign string
	}{
		{"papers", 0o755, "notes team papers", "notes papers"},
		{"papers", 0o700, "notes team", "notes"},
		{"", 0o700, "", ""},
		{"", 0o755, "notes team", "notes"},
		{"papers", 0o711, "notes team papers", "notes papers"},
	} {
		o.must(os.Chmod(o.path(step.path), step.mode))
		if m, f := names(people[0]), names(stranger); m != step.member || f != step.foreign {
			t.Errorf("after chmod %o %q: %q and %q, want %q and %q", step.mode, step.path, m, f, step.member, step.foreign)
		}
	}
}
