// Package query is the query language: text in, clauses out, and back again.
// What the clauses mean for an index is package index's matter.
//
// A query is words, ranked and OR-ed, among which some say more: "a phrase",
// +must, -not, prefix*, fuzzy~ and field:value. All that is not written exactly
// so is a word: pasted error messages, URLs, paths and code are queries, too.
// docs/query.md describes the language for those who use it.
package query

import (
	"slices"
	"strings"
)

// Occur says what a clause asks of a passage.
type Occur uint8

// Any clause may match, which ranks the passage; one that Must has to; and what
// matches one that is Not is no hit.
const (
	Any Occur = iota
	Must
	Not
)

// Kind is what a clause looks for.
type Kind uint8

// Kinds. Those from Path on are fields: they choose passages and rank none.
const (
	Word   Kind = iota // Text as it is, which may be several terms
	Phrase             // the words of Text, one after the other
	Prefix             // words that begin as Text does
	Fuzzy              // words within a few edits of Text

	Path    // documents whose path matches the glob Text
	Type    // documents of one of the formats in Text, separated by commas
	Folder  // documents in the folder called Text
	Heading // passages whose heading path has the words of Text
	Title   // documents whose title has the words of Text
	Author  // documents whose author has the words of Text
	Since   // documents changed at or after the date Text
	Before  // documents changed before the date Text
)

// fields are the names of fields, by kind from Path on.
var fields = []string{"path", "type", "folder", "heading", "title", "author", "since", "before"}

// Fields lists the names of all fields.
func Fields() []string { return slices.Clone(fields) }

// IsField says whether the kind is a field.
func (k Kind) IsField() bool { return k >= Path && int(k-Path) < len(fields) }

// String is the name of a field, and a word for the other kinds.
func (k Kind) String() string {
	if k.IsField() {
		return fields[k-Path]
	}
	return []string{"word", "phrase", "prefix", "fuzzy"}[min(k, Fuzzy)]
}

// kindOf finds a field by its name.
func kindOf(field string) (Kind, bool) {
	i := slices.Index(fields, field)
	return Path + Kind(max(i, 0)), i >= 0
}

// Clause is one part of a query.
type Clause struct {
	Occur Occur // a phrase or a field is Must or Not
	Kind  Kind
	Text  string // without operators, quotes and escapes
	// Edits is how many a Fuzzy clause allows, 1 or 2; 0 leaves it to the
	// length of the word.
	Edits int
	// Column is where the clause begins in the text that was parsed, and
	// ValueColumn where a field's value does: in characters, from 1.
	Column, ValueColumn int
}

// Query is what was asked for. The zero value asks for nothing.
type Query struct {
	Clauses []Clause
	// Verbatim says that the words are to be taken as they are, and nothing is
	// to be read into them.
	Verbatim bool
}

// Literal is the query for the words of a text, in which nothing is an operator.
func Literal(text string) *Query {
	return &Query{Clauses: []Clause{{Kind: Word, Text: text, Column: 1}}, Verbatim: true}
}

// Ranks reports whether the query has anything that scores passages: a query
// without finds all passages that it does not exclude.
func (q *Query) Ranks() bool {
	return slices.ContainsFunc(q.Clauses, func(c Clause) bool { return c.Occur != Not && !c.Kind.IsField() })
}

// Plain reports whether the query is words alone, none of them special.
func (q *Query) Plain() bool {
	return !slices.ContainsFunc(q.Clauses, func(c Clause) bool { return c.Kind != Word || c.Occur != Any })
}

// String writes the query so that Parse reads the same clauses again; one that is
// Verbatim, as its words.
func (q *Query) String() string {
	parts := make([]string, 0, len(q.Clauses))
	for i := range q.Clauses {
		if q.Verbatim {
			parts = append(parts, strings.Fields(q.Clauses[i].Text)...)
			continue
		}
		parts = append(parts, q.Clauses[i].String())
	}
	return strings.Join(parts, " ")
}

// String writes one clause.
func (c *Clause) String() string {
	sign := ""
	switch {
	case c.Occur == Not:
		sign = "-"
	case c.Occur == Must && c.Kind != Phrase && !c.Kind.IsField():
		sign = "+"
	}
	return sign + c.body()
}

func (c *Clause) body() string {
	switch c.Kind {
	case Word:
		return c.word()
	case Phrase:
		return quote(c.Text)
	case Prefix:
		return c.suffixed("*")
	case Fuzzy:
		return c.suffixed([]string{"~", "~1", "~2"}[c.Edits])
	}
	if bare := c.Kind.String() + ":" + c.Text; c.readsAlone(bare) {
		return bare
	}
	return c.Kind.String() + ":" + quote(c.Text)
}

// word writes words with as few escapes as they need.
func (c *Clause) word() string {
	words := strings.Fields(c.Text)
	for i, w := range words {
		plain := Clause{Occur: c.Occur, Kind: Word, Text: w}
		if !plain.readsAlone(w) {
			words[i] = escape(w)
		}
	}
	return strings.Join(words, " ")
}

func (c *Clause) suffixed(suffix string) string {
	if c.readsAlone(c.Text + suffix) {
		return c.Text + suffix
	}
	return escape(c.Text) + suffix
}

// readsAlone reports whether a text, its sign aside, is read as the clause.
func (c *Clause) readsAlone(text string) bool {
	sign := map[Occur]string{Not: "-"}[c.Occur]
	if c.Occur == Must && !c.Kind.IsField() {
		sign = "+"
	}
	q, err := Parse(sign + text)
	if err != nil || len(q.Clauses) != 1 {
		return false
	}
	got := &q.Clauses[0]
	return got.Occur == c.Occur && got.Kind == c.Kind && got.Text == c.Text && got.Edits == c.Edits
}

// quote writes a text between quotation marks.
func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// special are the characters that a backslash takes the meaning from.
const special = `"“„+-*~:\`

// escape writes a word in which nothing is an operator.
func escape(word string) string {
	var b strings.Builder
	for _, r := range word {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
