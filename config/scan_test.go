package config

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// tomlGen writes random TOML: every kind of key and value, in any layout.
type tomlGen struct{ *rand.Rand }

func (g tomlGen) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g tomlGen) key(n int) string {
	parts := make([]string, 1+g.IntN(n))
	for i := range parts {
		k := string(rune('a' + g.IntN(12)))
		parts[i] = g.pick(k, k, `"`+k+`"`, "'"+k+"'", `"`+k+`.]=#\""`, `"\u0061"`, "1")
	}
	return strings.Join(parts, g.pick(".", ".", " . "))
}

// gap is what may stand between the items of an array.
func (g tomlGen) gap() string {
	return g.pick("", "", " ", "\n", "\t", " # ]}\"'\n", "\n\n#'''\n", "\r\n")
}

func (g tomlGen) value(depth int) string {
	switch n := g.IntN(12); {
	case n < 2 && depth > 0:
		var b strings.Builder
		b.WriteString("[" + g.gap())
		for range g.IntN(4) {
			b.WriteString(g.value(depth-1) + g.gap() + "," + g.gap())
		}
		return b.String() + g.pick("", g.value(depth-1)) + g.gap() + "]"
	case n < 4 && depth > 0:
		items := make([]string, g.IntN(4))
		for i := range items {
			items[i] = g.gap() + g.key(2) + g.pick("=", " = ") + g.value(depth-1) + g.gap()
		}
		return "{" + strings.Join(items, ",") + g.gap() + "}"
	}
	return g.pick("1", "-0.5e3", "inf", "true", "0x_f"[:3]+"f", "1979-05-27", "1979-05-27 07:32:00.5Z", "07:32:00",
		`""`, `''`, `"a\"]\\"`, `'a\'`, `"#"`, `"""""""`[:6], `"""a""b"""`, `"""x"""""`, "\"\"\"\n[a]\n\\\"\"\"\"\\\n  b\"\"\"",
		`''''x'''''`, "'''\n[[b]]\nc = 1\n'''", `"é\u00e9"`)
}

func (g tomlGen) document() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", byteOrderMark))
	for range g.IntN(7) {
		switch g.IntN(6) {
		case 0:
			b.WriteString(g.pick("", "  ") + "[" + g.pick("", " ") + g.key(3) + g.pick("", " ") + "]" + g.pick("", " # x"))
		case 1:
			b.WriteString("[[" + g.pick("", " ") + g.key(3) + "]]" + g.pick("", " # ]"))
		case 2:
			b.WriteString(g.pick("", "# x", "\t"))
		default:
			b.WriteString(g.pick("", "\t") + g.key(3) + g.pick("=", " = ") + g.value(3) + g.pick("", " ", "# [x]"))
		}
		b.WriteString(g.pick("\n", "\n", "\r\n"))
	}
	if g.IntN(4) == 0 {
		return strings.TrimRight(b.String(), "\r\n")
	}
	return b.String()
}

// checkScan compares the scanner with the parser on a text that is TOML, or
// that the parser takes for it.
func checkScan(text string, values map[string]any) error {
	doc := scan(text)
	if doc.wrong != nil {
		return nil
	}
	if err := sameShape(values, doc.root); err != nil {
		return err
	}
	last := 0
	for _, st := range doc.statements {
		if st.start < last || st.end <= st.start || st.line != lineAt([]byte(text), st.start) {
			return fmt.Errorf("statement %+v after %d", st, last)
		}
		last = st.end
		// Each statement is whole lines, and TOML by itself.
		if _, err := parseTOML("f", []byte(text[st.start:st.end])); err != nil {
			return fmt.Errorf("statement %q: %w", text[st.start:st.end], err)
		}
	}
	return nil
}

func TestScannerAgreesWithParser(t *testing.T) {
	valid := 0
	for seed := range uint64(8000) {
		text := tomlGen{rand.New(rand.NewPCG(seed, 1))}.document()
		values, err := parseTOML("f", []byte(text))
		if err != nil {
			continue // two keys the same, most likely
		}
		valid++
		if err := checkScan(text, values); err != nil {
			t.Fatalf("seed %d: %q: %v", seed, text, err)
		}
	}
	if valid < 2000 {
		t.Errorf("only %d of the texts are TOML", valid)
	}
}
