package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"quern/ipc"
)

// What a newcomer gets wrong is answered with what to do instead.
func TestWrongArgumentsAreExplained(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.WriteFile("refunds.txt", nil, 0o600))
	newFake(t)
	for _, tt := range []struct{ args, says string }{
		{"show", "quern: show needs a file: quern show PATH[#N]\n"},
		{"show a b", "quern: show takes one argument, not 2: quern show PATH[#N] (quote names with spaces)\n"},
		{"reindex", "quern: reindex needs a file or a directory: quern reindex PATH\n"},
		{"folders add", "quern: folders add needs a directory: quern folders add FOLDER\n"},
		{"folders remove", "quern: folders remove needs a folder: quern folders remove FOLDER\n"},
		{"folders list x", "quern: folders list takes no argument: \"x\" (quern folders list --help shows how)\n"},
		{"stop now", "quern: stop takes no argument: \"now\" (quern stop --help shows how)\n"},
		{"status refunds.txt", "quern: status takes no argument: \"refunds.txt\" (did you mean quern status --file refunds.txt?)\n"},
		{"search --colapse none x", "quern: unknown flag: --colapse (did you mean --collapse?)\n"},
		{"search --vim-grep x", "(did you mean --vimgrep?)\n"},
		{"search --sokcet y x", "(did you mean --socket?)\n"},
		{"search --quite-other x", "quern: unknown flag: --quite-other (quern search --help lists the flags)\n"},
		{"search -k x y", "quern: -k must be a number, not \"x\"\n"},
		{"search --offset=1.5 y", "quern: --offset must be a number, not \"1.5\"\n"},
		{"search --sync=maybe y", "quern: --sync must be true or false, not \"maybe\"\n"},
		{"search --sync-timeout 5 y", "quern: --sync-timeout must be a time such as 2s or 500ms, not \"5\"\n"},
		{"search --sync false y", "quern: use --sync=false, not --sync false (or --sync -- false to search for the word)\n"},
		{"search -x y", "(quote the query, quern search 'word -not', or write -- before one that starts with -)\n"},
		{"search !!! -- ?", "quern: the query has no words"},
		{"explain … refunds.txt#0", "quern: the query has no words"},
		{"explain refunds.txt#0 refunds", "quern: first the query, then PATH#N (quern explain QUERY PATH#N)\n"},
		{"explain refunds refunds.txt", "\"refunds.txt\" names no passage: write PATH#N"},
		{"show refunds.txt#x", "quern: \"x\" is no passage number (they count from 0)\n"},
	} {
		r := run(t, strings.Fields(tt.args)...)
		if r.code != ExitUsage || !strings.Contains(r.err, tt.says) || r.out != "" {
			t.Errorf("%s: code %d\n%s%s\nwant %s", tt.args, r.code, r.out, r.err, tt.says)
		}
	}
	for _, args := range []string{"search --sync -- false", "search --sync true", "search C++", "search 42", "search ☕", "search 世界"} {
		run(t, strings.Fields(args)...).want(t, ExitOK)
	}
}

func TestTheDaemonsWordsForParamsBecomeFlags(t *testing.T) {
	home(t)
	f := newFake(t)
	for message, want := range map[string]string{
		"k: 5000 is over the limit of 1000 (use offset for further hits)": "quern: -k: 5000 is over the limit of 1000 (use --offset for further hits)\n",
		"since: \"x\" is no date":               "quern: --since: \"x\" is no date\n",
		"folders: no folder is named \"notes\"": "quern: folders: no folder is named \"notes\"\n",
	} {
		f.fail[ipc.MethodSearch] = ipc.Errorf(ipc.CodeInvalidParams, "%s", message)
		if r := run(t, "search", "x"); r.code != ExitUsage || r.err != want {
			t.Errorf("code %d, %s", r.code, r.err)
		}
	}
}

func TestAFolderAddedTwiceIsNoMistake(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.Mkdir("notes", 0o700))
	must(os.Symlink("notes", "link"))
	f := newFake(t)
	f.folder = []ipc.FolderStatus{{Name: "mine", Path: dir + "/notes"}}
	for _, args := range []string{"notes", "notes/", "link", "--name mine notes", "--temporary notes"} {
		run(t, append([]string{"folders", "add"}, strings.Fields(args)...)...).want(t, ExitOK, "already watched as \"mine\"\n")
	}
	if got := f.called(); strings.Contains(strings.Join(got, " "), ipc.MethodFoldersAdd) {
		t.Errorf("calls: %v", got)
	}
	// Another name is for the daemon to judge, and a temporary folder can
	// become a configured one.
	run(t, "folders", "add", "--name", "other", "notes").want(t, ExitOK, "watching ")
	f.mu.Lock()
	f.folder = []ipc.FolderStatus{{Name: "mine", Path: dir + "/notes", Temporary: true}}
	f.mu.Unlock()
	run(t, "folders", "add", "notes").want(t, ExitOK, "watching ")
}

func TestFlagsThatHideHitsAreNamed(t *testing.T) {
	home(t)
	f := newFake(t)
	f.filtered = func(p ipc.SearchParams) bool {
		return p.Path != "" || len(p.Types) > 0 || p.Since != "" || p.Before != ""
	}
	f.result.Total = 3
	for _, tt := range []struct{ args, says string }{
		{"--path a/*.md", "quern: no hits: 3 passages match, none is left after --path 'a/*.md' (a glob with / is relative to each folder)\n"},
		{"--path *.md --since 7d", "quern: no hits: 3 passages match, none is left after --path '*.md' --since '7d'\n"},
		{"--type md,txt --before 1d --collapse none -k 3", "none is left after --type 'md,txt' --before '1d'\n"},
	} {
		r := run(t, append([]string{"search", "refund"}, strings.Fields(tt.args)...)...)
		if r.code != ExitNoHits || !strings.Contains(r.err, tt.says) {
			t.Errorf("%s: code %d, %s", tt.args, r.code, r.err)
		}
		again := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch)
		no := false
		if want := (ipc.SearchParams{Query: "refund", K: 1, Text: &no}); !reflect.DeepEqual(again, want) {
			t.Errorf("asked again: %+v", again)
		}
	}
	f.mu.Lock()
	f.result.Hits = nil
	f.mu.Unlock()
	if r := run(t, "search", "--offset", "100", "refund"); r.err != "quern: only 3 hits; --offset 100 is past the last\n" {
		t.Errorf("offset: %s", r.err)
	}
	if r := run(t, "search", "--budget", "1", "refund"); r.err != "quern: none of 3 hits fits into 1 token (give a larger --budget)\n" {
		t.Errorf("budget: %s", r.err)
	}
	f.mu.Lock()
	f.result.Total = 0
	f.mu.Unlock()
	if r := run(t, "search", "--path", "x", "refund"); r.code != ExitNoHits || r.err != "" {
		t.Errorf("nothing hidden: %s", r.err)
	}
}

func TestFoldersThatCannotBeReadAreNamed(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.MkdirAll("notes/sub", 0o700))
	f := newFake(t)
	f.covered = true
	f.folder = []ipc.FolderStatus{
		{Name: "notes", Path: dir + "/notes", State: "watching"},
		{Name: "locked", Path: dir + "/notes/locked", State: "suspended", Reason: "permission denied"},
		{Name: "gone", Path: dir + "/gone", State: "suspended", Reason: "no such file or directory"},
		{Name: "away", Path: dir + "/away", State: "suspended", Reason: "no such file or directory", Documents: 3},
	}
	const locked = "quern: folder locked cannot be read: permission denied\n"
	const gone = "quern: folder gone cannot be read: its path does not exist: is it a typo?\n"
	const away = "quern: folder away cannot be read: no such file or directory (what was indexed before is searched)\n"
	check := func(want string, args ...string) {
		t.Helper()
		if r := run(t, append([]string{"search", "x"}, args...)...); r.err != want {
			t.Errorf("%v: stderr %q, want %q", args, r.err, want)
		}
	}
	check("") // hits from elsewhere
	check(locked, "--folder", "locked")
	check(locked, "--folder", "notes") // in which it lies
	check(gone+away, "--folder", "gone", "--folder", "away")
	// The fake says of every file that it is skipped.
	check("quern: folder "+dir+"/notes/sub: binary file\n", "--folder", "notes/sub")
	f.mu.Lock()
	f.result.Hits = nil
	f.mu.Unlock()
	check(locked + gone + away)
}
