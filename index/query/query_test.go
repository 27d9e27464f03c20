package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func parse(t testing.TB, text string) *Query {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

// same compares the clauses of two queries, wherever they stand.
func same(a, b *Query) bool {
	if len(a.Clauses) != len(b.Clauses) {
		return false
	}
	for i, x := range a.Clauses {
		y := b.Clauses[i]
		x.Column, x.ValueColumn, y.Column, y.ValueColumn = 0, 0, 0, 0
		if x != y {
			return false
		}
	}
	return true
}

func TestClauses(t *testing.T) {
	for text, want := range map[string][]Clause{
		``:                      nil,
		`billing refunds`:       {{Text: "billing"}, {Text: "refunds"}},
		`"annual plan" cost`:    {{Occur: Must, Kind: Phrase, Text: "annual plan"}, {Text: "cost"}},
		`-"annual plan"`:        {{Occur: Not, Kind: Phrase, Text: "annual plan"}},
		`“annual plan”`:         {{Occur: Must, Kind: Phrase, Text: "annual plan"}},
		`"say \"no\" \x \\"`:    {{Occur: Must, Kind: Phrase, Text: `say "no" \x \`}},
		`"a","b"-c`:             {{Occur: Must, Kind: Phrase, Text: "a"}, {Text: `,"b"-c`}},
		`+must -not`:            {{Occur: Must, Text: "must"}, {Occur: Not, Text: "not"}},
		`+e-mail -a@b.c`:        {{Occur: Must, Text: "e-mail"}, {Occur: Not, Text: "a@b.c"}},
		`bill* -draf* +x*`:      {{Kind: Prefix, Text: "bill"}, {Occur: Not, Kind: Prefix, Text: "draf"}, {Occur: Must, Kind: Prefix, Text: "x"}},
		`recieve~ a~1 b~2`:      {{Kind: Fuzzy, Text: "recieve"}, {Kind: Fuzzy, Text: "a", Edits: 1}, {Kind: Fuzzy, Text: "b", Edits: 2}},
		`path:docs/**/*.md`:     {{Occur: Must, Kind: Path, Text: "docs/**/*.md"}},
		`-type:md,txt`:          {{Occur: Not, Kind: Type, Text: "md,txt"}},
		`folder:"my notes" x`:   {{Occur: Must, Kind: Folder, Text: "my notes"}, {Text: "x"}},
		`heading:billing`:       {{Occur: Must, Kind: Heading, Text: "billing"}},
		`title:a author:b`:      {{Occur: Must, Kind: Title, Text: "a"}, {Occur: Must, Kind: Author, Text: "b"}},
		`since:7d before:today`: {{Occur: Must, Kind: Since, Text: "7d"}, {Occur: Must, Kind: Before, Text: "today"}},
		`\"quoted`:              {{Text: `"quoted`}},
		`\-5 type\:md foo\*`:    {{Text: "-5"}, {Text: "type:md"}, {Text: "foo*"}},
	} {
		if q := parse(t, text); !same(q, &Query{Clauses: want}) {
			t.Errorf("%s: %+v", text, q.Clauses)
		}
	}
}

// TestPastedTextIsWords: nothing that people paste fails, or means more than its
// words.
func TestPastedTextIsWords(t *testing.T) {
	for _, text := range []string{
		`C++ and C# and F*ck`, `foo:bar key=value msg="hello world"`, `http://example.com/a?b=c&d=e#f`,
		`/usr/lib/x.so.1 C:\Users\me\notes.txt \\server\share`, `v1.2.3 1.2 -5 -0.5 - -- --amend`,
		`a@b.c first.last+tag@example.com`, `state-of-the-art don't 5" disk rock'n'roll`,
		`error: cannot open file: No such file or directory (os error 2)`,
		`panic: runtime error: index out of range [5] with length 3`,
		`Type: text Title: A Author: B title: path:`, `std::vector<int> path::new title::x ->next --> -*- += ++i`,
		`**bold** /* comment */ *args ~/notes ~ * + "" >= a|b`, `HEAD~3 foo~bar file.txt~ 12:30 (foo*)`,
		"TypeError: Cannot read properties of undefined (reading 'map')\n    at foo (/srv/app/x.js:10:5)",
		`“open “open`,
	} {
		q := parse(t, text)
		if !q.Plain() {
			t.Errorf("%s: %+v", text, q.Clauses)
		}
		var words []string
		for _, c := range q.Clauses {
			words = append(words, c.Text)
		}
		want := strings.Join(strings.Fields(text), " ")
		want = strings.ReplaceAll(strings.ReplaceAll(want, `\\`, `\`), ` "" `, " ")
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s:\n%s", want, got)
		}
	}
}

func TestErrorsPointAtTheirColumn(t *testing.T) {
	for text, want := range map[string]struct {
		column int
		words  string
	}{
		`"open`:                   {1, "not closed"},
		`größe 東京 -"open`:         {11, "not closed"},
		`x folder:"y`:             {10, "not closed"},
		`a since:yesterdya`:       {9, "yesterdya"},
		`before:"2026-13"`:        {8, "2026-13"},
		`path:[a`:                 {6, "glob"},
		`heading:"!"`:             {9, "no word"},
		strings.Repeat("+a ", 65): {193, "more than 64"},
	} {
		_, err := Parse(text)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Column != want.column || !strings.Contains(e.Reason, want.words) || e.Hint == "" {
			t.Errorf("%s: %+v", text, err)
		}
	}
}

func TestDates(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2026, 11, 30, 15, 4, 5, 0, zone) // a Monday
	for text, want := range map[string]string{
		"2026-11-01": "2026-11-01T00:00:00+01:00", "2026-11": "2026-11-01T00:00:00+01:00", "2025": "2025-01-01T00:00:00+01:00",
		"today": "2026-11-30T00:00:00+01:00", "Yesterday": "2026-11-29T00:00:00+01:00", "now": "2026-11-30T15:04:05+01:00",
		"monday": "2026-11-23T00:00:00+01:00", "sunday": "2026-11-29T00:00:00+01:00",
		"7d": "2026-11-23T15:04:05+01:00", "2w": "2026-11-16T15:04:05+01:00", "3m": "2026-08-30T15:04:05+01:00",
		"1y": "2025-11-30T15:04:05+01:00", "36h": "2026-11-29T03:04:05+01:00", "30min": "2026-11-30T14:34:05+01:00",
		"2026-11-01T10:00:00Z": "2026-11-01T10:00:00Z", "2026-11-01t10:00:00z": "2026-11-01T10:00:00Z",
	} {
		if got, err := ParseDate(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v", text, got.Format(time.RFC3339), err)
		}
	}
	for _, text := range []string{"", "d", "7", "7x", "-7d", "2026-13-01", "99999999999d", "morgen"} {
		if got, err := ParseDate(text, now); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestPrintedQueriesReadTheSame(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", "foo", "12", "ß", "東", " ", " ", `"`, "+", "-", "*", "~", "~1", ":", `\`, "type:", "path:", "since:7d", "/", ".", "'",
		"“", "”", "heading:", "=", ",", "🙂",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 14).Draw(t, "pieces"), "")
		checkRoundTrip(t, text)
	})
}

func checkRoundTrip(t interface{ Fatalf(string, ...any) }, text string) {
	q, err := Parse(text)
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Column < 1 || e.Column > len([]rune(text)) {
			t.Fatalf("%q: %#v", text, err)
		}
		return
	}
	again, err := Parse(q.String())
	if err != nil || !same(q, again) {
		t.Fatalf("%q: %+v, printed %q: %+v, %v", text, q.Clauses, q.String(), again, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`billing "annual plan" +must -not pre* fuz~2 path:**/*.md -type:md,txt since:7d`, `"open`, `-"a\"b\\"c`, `\-x \"y z\*`,
		`path:"a b"~`, "title::x \xff+\xfe", `„a“ “b”`, `--x -5 +`, `folder:"\\"x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRoundTrip(t, text) })
}
