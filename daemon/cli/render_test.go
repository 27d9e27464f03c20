package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"quern/ipc"

	"pgregory.net/rapid"
)

// hostile is text and names as an attacker would write them.
var hostile = []string{
	"\x1b[2J\x1b]0;title\a", "\x1b]52;c;ZXZpbA==\x07", "a\rb", "a\bb", "\u009b31m", "\x7f", "\u202egnp.exe", "\u2066x\u2069",
	"\xff\xfe", "line\nfeed", "tab\there", "\x00", "e" + strings.Repeat("\u0301", 500), "\U000e0041tag", "\u2028", "\u200fx",
}

// assertHarmless fails when a terminal could act on s; our own styles are let
// through.
func assertHarmless(t interface{ Errorf(string, ...any) }, s string) {
	for _, own := range []string{styleReset, stylePath, styleHeading, styleScore, styleMatch, styleBad, styleBold} {
		s = strings.ReplaceAll(s, own, "")
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && r != utf8.RuneError && harmful(r) {
			t.Errorf("harmful character %U in %q", r, s)
			return
		}
	}
}

func TestHostileTextIsHarmlessOnATerminal(t *testing.T) {
	for _, evil := range hostile {
		home(t)
		f := newFake(t)
		path := ipc.EncodePath("/home/u/" + evil + ".md")
		f.result.Hits[0].Path, f.result.Hits[0].Text, f.result.Hits[0].Heading = path, "before "+evil+" after", []string{evil}
		f.result.Hits[0].Highlights = [][2]int{{0, 6}}
		s := quiet()
		s.Problems[0] = ipc.FileStatus{Path: path, State: ipc.FileFailed, Reason: evil}
		s.Folders[0] = ipc.FolderStatus{Name: evil, Path: path, Reason: evil}
		s.ConfigError, s.Warnings, s.Version = evil, []string{evil}, evil
		f.status, f.folder = []ipc.StatusResult{s}, s.Folders
		for _, args := range [][]string{
			{"search", "x"}, {"search", "--vimgrep", "x"}, {"search", "-l", "x"}, {"search", "--json", "x"}, {"search", "--jsonl", "x"},
			{"status"}, {"status", "--json"}, {"folders", "list"}, {"status", "--file", "/x/" + evil}, {"reindex", "/x/" + strings.ReplaceAll(evil, "\x00", "")},
			{"search", "--model"}, {"search", "--nope" + evil},
		} {
			r := console{out: 80, err: 80}.run(t, args...)
			assertHarmless(t, r.out+r.err)
			if t.Failed() {
				t.Fatalf("quern %q", args)
			}
		}
	}
}

func TestTheDaemonsErrorsAreHarmless(t *testing.T) {
	home(t)
	f := newFake(t)
	f.fail[ipc.MethodSearch] = &ipc.Error{Code: ipc.CodeBadQuery, Message: "bad \x1b[2J", Data: json.RawMessage(`{"column":2}`)}
	r := console{err: 80}.run(t, "search", "a\x1b[2Jb")
	r.want(t, ExitUsage, "^")
	assertHarmless(t, r.err)
}

func TestSafeJSONKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom(hostile)).Draw(t, "s")
		raw, err := json.Marshal(s)
		must(err)
		var want, got string
		must(json.Unmarshal(raw, &want))
		safe := safeJSON(raw)
		if err := json.Unmarshal(safe, &got); err != nil || got != want {
			t.Fatalf("%q became %q: %v", want, got, err)
		}
		assertHarmless(t, string(safe))
	})
}

func TestSafePathsAreOneHarmlessLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(rapid.String(), rapid.SampledFrom(hostile)).Draw(t, "path")
		safe := safePath(path)
		assertHarmless(t, safe)
		if strings.ContainsAny(safe, "\n\t") || !utf8.ValidString(safe) {
			t.Fatalf("%q", safe)
		}
	})
	for in, want := range map[string]string{
		"/a b/ü.md": "/a b/ü.md", "a\nb": `a\nb`, "\x1b": `\x1b`, "\xff": `\xff`, "\u202e": `\u202e`,
	} {
		if got := safePath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := linePath("a\nb\x1b\u200f\xff"); got != "a\\nb\\x1b\u200f\xff" {
		t.Errorf("%q", got)
	}
}

// Whatever the text and its highlights, a snippet's lines fit, are harmless,
// and mark only text that was marked.
func TestSnippetsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.StringMatching(`[a-z]{1,12}`), rapid.SampledFrom([]string{" ", "\n", "  ", "世界", "👩‍👩‍👧", "é"}),
			rapid.SampledFrom(hostile), rapid.String())).Draw(t, "parts")
		text := strings.Join(parts, "")
		marks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(-1, len(text)+1).Draw(t, "from"), rapid.IntRange(-1, len(text)+2).Draw(t, "to")}
		}), 0, 20).Draw(t, "marks")
		columns := rapid.IntRange(1, 100).Draw(t, "columns")
		lines := snippet(text, marks, [2]int{}, columns, func(s string) string { return s })
		for _, line := range lines {
			if w := displayWidth(line); w > max(columns, 10) {
				t.Fatalf("line of %d columns: %q", w, line)
			}
			assertHarmless(t, line)
			if strings.Contains(line, "\n") {
				t.Fatalf("line end in %q", line)
			}
		}
		if visible := strings.TrimFunc(text, unicode.IsSpace); visible != "" && len(lines) == 0 {
			t.Fatalf("no snippet of %q", text)
		}
	})
}

func TestSnippetShowsTheDensestPlace(t *testing.T) {
	filler := strings.Repeat("filler words here ", 40)
	text := filler + "refund refund " + filler + "the billing of a refund " + filler
	lines := snippet(text, marksOf(text, "refund", "billing"), [2]int{}, 60, func(s string) string { return "<" + s + ">" })
	all := strings.Join(lines, " ")
	if !strings.Contains(all, "the <billing> of a <refund>") {
		t.Errorf("%q", lines)
	}
	if !strings.HasPrefix(all, "…") || !strings.HasSuffix(all, "…") {
		t.Errorf("no ellipses: %q", all)
	}
}

func TestShortTextIsShownWhole(t *testing.T) {
	got := snippet("One \n\n two\tthree.", [][2]int{{0, 3}, {7, 10}}, [2]int{}, 40, strings.ToUpper)
	if want := []string{"ONE TWO three."}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestDisplayWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "世界": 4, "👩‍👩‍👧": 2, "🇩🇪": 2, "ﾊﾝ": 2, "❤️": 2,
		styleBad + "ab" + styleReset: 2,
	} {
		if got := displayWidth(s); got != want {
			t.Errorf("%q: %d columns, want %d", s, got, want)
		}
	}
	if got := cut("世界世界", 5); got != "世界…" {
		t.Errorf("cut: %q", got)
	}
}

func TestPathsOnATerminalAreShort(t *testing.T) {
	dir := home(t)
	t.Setenv("HOME", "/home/u")
	work := filepath.Join(dir, "work")
	must(os.Mkdir(work, 0o700))
	t.Chdir(work)
	a := &app{}
	terminal := a.newPathShower(&output{terminal: true})
	piped := a.newPathShower(&output{})
	for path, want := range map[string]string{
		work + "/a.md": "a.md", dir + "/b.md": dir + "/b.md", "/home/u/n/c.md": "~/n/c.md", "/home/u": "~", "/home/u.old/c": "/home/u.old/c", "/x": "/x",
	} {
		if got := terminal.show(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
		if got := piped.show(path); got != path {
			t.Errorf("piped: %s is shown as %s", path, got)
		}
	}
}

func TestBadBytesInPathsSurviveNulOutput(t *testing.T) {
	home(t)
	f := newFake(t)
	name := "/home/u/caf\xe9\n.md"
	f.result.Hits[0].Path = ipc.EncodePath(name)
	if r := run(t, "search", "-0", "x"); !strings.HasPrefix(r.out, name+"\x00") {
		t.Errorf("%q", r.out)
	}
}

func TestNumbersAndTimesForPeople(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "-1,234,567"},
		{plural(1, "hit", "hits"), "1 hit"}, {plural(2000, "hit", "hits"), "2,000 hits"},
		{sizeText(1023), "1023 B"}, {sizeText(1536), "1.5 KiB"}, {sizeText(45 << 20), "45.0 MiB"}, {sizeText(5 << 50), "5120.0 TiB"},
		{timeLeft(0.2), "1 s"}, {timeLeft(59.5), "1 min 0 s"}, {timeLeft(3700), "1 h 1 min"}, {rate(3.14159), "3.1"}, {rate(1234.5), "1,235"},
		{lineRange([2]int{3, 3}), "3"}, {lineRange([2]int{3, 7}), "3-7"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestPlacesAreNeverRelative(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	f := newFake(t)
	s := quiet()
	s.Config, s.Folders[0].Path = dir+"/c/quern/config.toml", dir+"/notes"
	f.status, f.folder = []ipc.StatusResult{s}, s.Folders
	console{out: 100}.run(t, "status").want(t, ExitOK, "  ~/c/quern/config.toml\n", " ~/notes ")
	console{out: 100}.run(t, "folders", "list").want(t, ExitOK, " ~/notes ")
	run(t, "folders", "list").want(t, ExitOK, " "+dir+"/notes ")
}

// Whatever the width, the line fits and says what an interrupt does.
func TestProgressFits(t *testing.T) {
	s := busyStatus(8000, 9000)
	for columns, want := range map[int]string{
		199: "scanning: 8,000 of 9,000 files, 310/s, 1 min 15 s left (Ctrl-C answers from what is there)",
		80:  "scanning: 8,000 of 9,000 files, 310/s, 1 min 15 s left (Ctrl-C answers now)",
		70:  "scanning: 8,000 of 9,000 files, 1 min 15 s left (Ctrl-C answers now)",
		60:  "8,000 of 9,000 files, 1 min 15 s left (Ctrl-C answers now)",
		45:  "8,000/9,000, 1 min 15 s (Ctrl-C answers now)",
		39:  "8,000/9,000 (Ctrl-C answers now)",
		25:  "Ctrl-C answers now 8,000…",
	} {
		if got := progressFit(&s, answersNow, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := ipc.StatusResult{State: ipc.StateIndexing, Pending: rapid.IntRange(0, 1e9).Draw(t, "pending")}
		s.Progress = ipc.Progress{Done: rapid.IntRange(0, 1e9).Draw(t, "done"), Total: rapid.IntRange(0, 1e9).Draw(t, "total"),
			FilesPerSec: rapid.Float64Range(0, 1e6).Draw(t, "rate"), SecondsLeft: rapid.Float64Range(0, 1e6).Draw(t, "left")}
		columns := rapid.IntRange(18, 120).Draw(t, "columns")
		line := progressFit(&s, answersNow, columns)
		if displayWidth(line) > columns || columns > 19 && !strings.Contains(line, "Ctrl-C answers") {
			t.Fatalf("%d columns: %q", columns, line)
		}
	})
}

// The time left runs down as the clock does, and jumps of the daemon's estimate
// move it little.
func TestTheTimeLeftIsSmooth(t *testing.T) {
	p := &progressLine{}
	now := time.Now()
	if got := p.average(100, now); got != 100 {
		t.Errorf("at first %v", got)
	}
	last := 100.0
	for i := range 40 {
		now = now.Add(250 * time.Millisecond)
		jumpy := []float64{40, 200}[i%2]
		got := p.average(jumpy, now)
		if math.Abs(got-last) > 8 {
			t.Errorf("from %v to %v", last, got)
		}
		last = got
	}
	for range 400 {
		now = now.Add(250 * time.Millisecond)
		last = p.average(10, now)
	}
	if last < 5 || last > 11 {
		t.Errorf("a steady 10 s became %v", last)
	}
	if got := p.average(0, now); got != 0 {
		t.Errorf("none left became %v", got)
	}
}

// FuzzReference checks that any argument gives an absolute path and that a
// passage number is never negative.
func FuzzReference(f *testing.F) {
	for _, seed := range []string{"a#1", "a#", "#3", "a#b#007", "a#99999999999999999999", "/x/../y#0", "\x00#1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		ref, err := parseReference(arg)
		if err != nil {
			return
		}
		if !filepath.IsAbs(ref.path) || ref.passage != nil && *ref.passage < 0 {
			t.Errorf("%q: %+v", arg, ref)
		}
	})
}
