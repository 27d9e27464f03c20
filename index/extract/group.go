package extract

import "strings"

// place is where a part of a text begins that has a name and no heading: a
// definition in code, a key of a data file, a cue.
type place struct {
	at   int
	path []string // nil for text of no name
}

// group makes sections of the parts of a text, in order of their places: small
// ones join until there are least bytes, so that passages are not single lines.
// What names such a section is for join to say.
func group(size int, places []place, least int, join func(a, b []string) []string) []Section {
	out := []Section{{End: size}}
	for _, p := range places {
		last := &out[len(out)-1]
		if p.at-last.Start < least {
			if len(out) == 1 || last.Heading == nil {
				last.Heading = p.path
			} else if p.path != nil {
				last.Heading = join(last.Heading, p.path)
			}
			continue
		}
		last.End = p.at
		out = append(out, Section{Start: p.at, End: size, Heading: p.path})
	}
	return out
}

// firstOnly names a section by its first part.
func firstOnly(a, _ []string) []string { return a }

const (
	// maxNames is how many parts name a section, maxPath how long the names are,
	// in bytes.
	maxNames = 6
	maxPath  = 200
)

// joinNames names a section by all of its parts: those with the same parents are
// one element of the path.
func joinNames(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	switch {
	case n == len(b): // of a part that is known
		return a
	case n == len(a): // a part of what came before
		return b
	case len(a[n:]) > 1 || len(b[n:]) > 1:
		return a
	}
	names := a[n] + ", " + b[n]
	if strings.Count(names, ", ") >= maxNames || len(names) > maxPath {
		return a
	}
	return append(append([]string(nil), a[:n]...), names)
}
