package extract

import (
	"path"
	"sort"
	"strings"
)

// relation is an arrow from one part of an OOXML package to another.
type relation struct {
	id     string
	kind   string // the last segment of its type, the same in both name spaces
	target string // the name of the part
}

// maxRelations bounds the arrows of one part.
const maxRelations = 50_000

// relations are the arrows from a part, "" for those from the package itself, in
// their order.
func (p *zipPackage) relations(part string) []relation {
	dir, base := path.Split(part)
	var rels []relation
	p.xml(dir+"_rels/"+base+".rels", func(x *xmlReader) {
		for e := x.next(); e != xmlEnd && len(rels) < maxRelations; e = x.next() {
			if e != xmlOpen || x.name != "relationship" || x.attr("targetmode") == "External" {
				continue
			}
			target := x.attr("target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join("/", dir, strings.ReplaceAll(target, `\`, "/"))
			}
			rels = append(rels, relation{x.attr("id"), path.Base(x.attr("type")), partName(target)})
		}
	})
	return rels
}

// mainPart is the part with the document proper, or "".
func (p *zipPackage) mainPart() string {
	for _, r := range p.relations("") {
		if r.kind == "officeDocument" && p.has(r.target) {
			return r.target
		}
	}
	return ""
}

// mainPartOr is mainPart, or the usual name.
func (p *zipPackage) mainPartOr(name string) string {
	if part := p.mainPart(); part != "" {
		return part
	}
	return name
}

func byID(rels []relation) map[string]relation {
	m := make(map[string]relation, len(rels))
	for _, r := range rels {
		m[r.id] = r
	}
	return m
}

// targets are the parts that arrows of a kind lead to, each once.
func targets(rels []relation, kinds ...string) []string {
	var parts []string
	seen := map[string]bool{}
	for _, r := range rels {
		for _, k := range kinds {
			if r.kind == k && !seen[r.target] {
				seen[r.target] = true
				parts = append(parts, r.target)
			}
		}
	}
	return parts
}

// numbered are the parts dir/name1.xml, dir/name2.xml … in the order of their
// numbers.
func (p *zipPackage) numbered(prefix, suffix string) []string {
	var parts []string
	for _, f := range p.order {
		if name := partName(f.Name); strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			parts = append(parts, name)
		}
	}
	sort.Slice(parts, func(i, j int) bool {
		if len(parts[i]) != len(parts[j]) {
			return len(parts[i]) < len(parts[j])
		}
		return parts[i] < parts[j]
	})
	return parts
}

// ooxmlProperties reads what the document says of itself.
func (p *zipPackage) ooxmlProperties() properties {
	var props properties
	part := "docProps/core.xml"
	for _, t := range targets(p.relations(""), "core-properties") {
		part = t
	}
	p.xml(part, func(x *xmlReader) {
		for e := x.next(); e != xmlEnd; e = x.next() {
			if e == xmlOpen {
				props.core(x)
			}
		}
	})
	return props
}

func (p *properties) core(x *xmlReader) {
	switch x.name {
	case "title":
		p.title = x.content()
	case "creator":
		p.author = x.content()
	case "created":
		p.created = parseDate(x.content())
	case "modified":
		p.modified = parseDate(x.content())
	case "subject", "keywords", "description", "category":
		p.add(x.content())
	}
}

// drawingText adds the texts of a drawing, a diagram, a chart or the comments on a
// slide, a line for each paragraph.
func (p *zipPackage) drawingText(b *textBuilder, part string) error {
	return p.xml(part, func(x *xmlReader) {
		inText := false
		for e := x.next(); e != xmlEnd && !b.full(); e = x.next() {
			switch {
			case e == xmlText:
				if inText {
					b.add(x.text())
				}
				continue
			case x.name == "t" || x.name == "v" && x.prefix == "c" || x.name == "text" && x.prefix == "p":
				inText = e == xmlOpen
			case e == xmlOpen && (x.name == "fallback" || x.name == "numcache"):
				x.skip()
			}
			switch x.name {
			case "p", "v", "pt", "br", "text":
				b.sep(sepLine)
			}
		}
		b.sep(sepLine)
	})
}
