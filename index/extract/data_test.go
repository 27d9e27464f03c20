package extract

import (
	"bytes"
	"strings"
	"testing"
)

func repeat(s string, n int) string { return strings.Repeat(s, n) }

func TestJSON(t *testing.T) {
	filler := `"` + repeat("word ", 100) + `"`
	text := `{"name": ` + filler + `, "list": [{"inner": 1}, ` + filler + `], "a": 1, "b": 2}`
	d := read(t, "a.json", text)
	if d.Extracted || len(d.Sections) != 3 || d.Sections[0].Heading[0] != "name" || d.Sections[1].Heading[0] != "list" || d.Sections[2].Heading[0] != "a, b" {
		t.Errorf("%+v", d.Sections)
	}
	for text, want := range map[string]string{
		`{"a": "one\ntwo\u00e9 \"x\" \\n \ud83d\ude00 \u12"}`: `{"a": "one twoé \"x\" \\n 😀 \u12"}`,
		`{"a": "\ud83d", "b`: "{\"a\": \"\ufffd\", \"b",
		repeat("[", 100000):  repeat("[", 100000),
	} {
		if d := read(t, "a.json", text); string(d.Text) != want || d.Extracted != (text != want) {
			t.Errorf("%.60q: %.60q", text, d.Text)
		}
	}
	if d := read(t, "a.jsonl", "{\"a\": \"x\\ny\"}\n{\"cut"); string(d.Text) != "{\"a\": \"x y\"}\n{\"cut" {
		t.Errorf("%q", d.Text)
	}
}

func TestKeyedText(t *testing.T) {
	filler := repeat("word ", 100)
	for name, text := range map[string]string{
		"a.yaml": "# c\none: " + filler + "\ntwo:\n  three: " + filler + "\n",
		"a.toml": "# c\n[one]\nx = '" + filler + "'\n[[two]]\ny = '" + filler + "'\n",
		"a.ini":  "; c\n[one]\nx=" + filler + "\n[two]\ny=" + filler + "\n",
	} {
		d := read(t, name, text)
		if len(d.Sections) != 2 || d.Sections[0].Heading[0] != "one" || d.Sections[1].Heading[0] != "two" {
			t.Errorf("%s: %+v", name, d.Sections)
		}
	}
}

func TestCSV(t *testing.T) {
	wantOutline(t, "a.csv", "name,\"the remark\"\na,\"open\nb,c\n", "name, the remark: a,\"open b,c")
	wantOutline(t, "a.tsv", "\ufeffname\tremark\r\na\tb\r\n", "name, remark: a b")
	wantOutline(t, "a.csv", "1,2\n3,4\n", ": 1,2 3,4")
	wantOutline(t, "a.csv", "a,b", ": a,b")
}

func TestNotebook(t *testing.T) {
	d := wantOutline(t, "a.ipynb", `{"cells": [
		{"cell_type": "markdown", "source": ["# One\n", "text ![x](data:image/png;base64,AAAA)\n", "## Two\n"]},
		{"cell_type": "code", "source": "print(1)", "outputs": [{"text": ["out\n", "\u001b[31mred\u001b[0m"]},
			{"data": {"image/png": "iVBOR", "text/plain": ["plain"]}}, {"ename": "E", "evalue": "wrong"}]},
		{"cell_type": "raw", "source": 5}]}`,
		"One: text ![x]()", "One > Two: print(1) out red plain wrong")
	wantMeta(t, d, "One, , ")
	wantOutline(t, "old.ipynb", `{"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "H"}, {"cell_type": "code", "input": ["a\n", "b"]}]}]}`, "H: a b")
	if d := read(t, "broken.ipynb", `{"cells": [{"source": "found`); !bytes.Contains(d.Text, []byte("found")) {
		t.Errorf("%q", d.Text)
	}
}
