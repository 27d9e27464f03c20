package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// collection writes a collection of three documents, and three questions.
func collection(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"corpus.jsonl": `{"_id": "cards", "title": "Cards", "text": "Refunds go back to the original card."}
{"_id": "plans", "title": "Plans", "text": "Plans renew each year, on the day they were begun."}
{"_id": "team", "title": "The team", "text": "The team answers within a day."}
`,
		"queries.jsonl": `{"_id": "q1", "text": "refunds to a card"}
{"_id": "q2", "text": "when do plans renew"}
{"_id": "q3", "text": "holiday"}
`,
		"qrels.tsv": "query-id\tcorpus-id\tscore\nq1\tcards\t1\nq2\tplans\t1\nq3\tteam\t1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEvalMeasuresACorpus(t *testing.T) {
	home(t)
	dir := collection(t)
	svg := filepath.Join(t.TempDir(), "curves.svg")
	r := run(t, "eval", dir, "--corpus", "--model", "tfidf,best", "--sweep", "1,3", "--svg", svg, "--plot")
	r.want(t, ExitOK)
	for _, want := range []string{
		"3 questions, 3 pieces of evidence", "0.6667", "recall stops rising at k 1", "MRR 0.6667",
		"against tfidf at k 3", "team: vocabulary gap: no k reaches it; it says", "R recall, P precision",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the report does not say %q:\n%s", want, r.out)
		}
	}
	if picture, err := os.ReadFile(svg); err != nil || !strings.HasPrefix(string(picture), "<svg") {
		t.Errorf("the picture: %.20q, %v", picture, err)
	}
}

func TestEvalBaseline(t *testing.T) {
	home(t)
	dir := collection(t)
	base := filepath.Join(t.TempDir(), "base.json")
	args := []string{"eval", dir, "--corpus", "--json", "--sweep", "1,3", "--baseline", base}
	run(t, args...).want(t, ExitOK)
	r := run(t, args...)
	r.want(t, ExitOK)
	var report struct {
		Models   []struct{ Model string }
		Baseline []struct{ Before, Now float64 }
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || len(report.Baseline) != 4 || report.Models[0].Model != "best" {
		t.Errorf("%+v, %v", report, err)
	}
	worse := run(t, append(args, "--set", "analysis.stopwords=english", "--set", "analysis.min_length=6")...)
	worse.want(t, ExitNoHits)
	if !strings.Contains(worse.err, "worse than the baseline") {
		t.Errorf("says %q", worse.err)
	}
	run(t, append(args, "--record", "--set", "analysis.min_length=6")...).want(t, ExitOK)
	run(t, append(args, "--set", "analysis.min_length=6")...).want(t, ExitOK)
}

func TestEvalOfTitles(t *testing.T) {
	home(t)
	r := run(t, "eval", "--self", "--corpus", collection(t), "--sweep", "1,3")
	if r.want(t, ExitOK); !strings.Contains(r.out, "titles: 3 questions") {
		t.Errorf("%s", r.out)
	}
}

func TestEvalAddWritesAGoldenSet(t *testing.T) {
	home(t)
	file := filepath.Join(t.TempDir(), "golden.toml")
	run(t, "eval", "--add", `how "long"?`, "--relevant", "refunds.txt#0", "--relevant", `"five days"`, file).want(t, ExitOK)
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "[[question]]\nquery = \"how \\\"long\\\"?\"\nevidence = [\"refunds.txt#0\", \"\\\"five days\\\"\"]\n" {
		t.Errorf("%s, %v", text, err)
	}
	run(t, "eval", "--add", "x", "--relevant", "a#b\"", file).want(t, ExitUsage)
}

func TestEvalUsage(t *testing.T) {
	home(t)
	dir := collection(t)
	bad := filepath.Join(dir, "bad.toml")
	if err := os.WriteFile(bad, []byte("[[question]]\nquery = \"a\"\nevidence = [\"\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, ExitUsage, "a golden set is needed"},
		{[]string{dir, "--self"}, ExitUsage, "--self makes its own questions"},
		{[]string{dir, "--set", "rank.model=bm25"}, ExitUsage, "--set needs --folder or --corpus"},
		{[]string{dir, "--corpus", "--set", "rank.modle=bm25"}, ExitUsage, "modle"},
		{[]string{dir, "--corpus", "--set", "folder.path=x"}, ExitUsage, "table.key=value"},
		{[]string{dir, "--corpus", "--sweep", "0"}, ExitUsage, "from 1 to 1000"},
		{[]string{dir, "--corpus", "--model", "none such"}, ExitUsage, "none such"},
		{[]string{bad, "--corpus=" + dir}, ExitFailure, "bad.toml:1: evidence is empty"},
		{[]string{filepath.Join(dir, "nowhere.toml"), "--corpus=" + dir}, ExitFailure, "no such file"},
		{[]string{dir, "--record"}, ExitUsage, "--record needs --baseline"},
	} {
		r := run(t, append([]string{"eval"}, c.args...)...)
		if r.want(t, c.code); !strings.Contains(r.err, c.says) {
			t.Errorf("%v: %q, does not say %q", c.args, r.err, c.says)
		}
	}
}
