package ignore

// fewRules is the length up to which a list is gone through from end to start.
const fewRules = 32

// keyLength bounds the bytes that rules are looked up by.
const keyLength = 6

// lookup finds the rules of a long list that may match a name: those without
// wildcards by the name, others by the bytes they begin or end with. Each list
// of indices is ascending.
type lookup struct {
	exact, head, tail map[string][]int32
	rest              []int32 // what neither begins nor ends with certain bytes
}

// lookups has one table for rules that match the last element, and one for those
// that match the whole name.
type lookups struct{ base, whole lookup }

func newLookups(rules []rule) *lookups {
	l := &lookups{newLookup(), newLookup()}
	for i := range rules {
		if r := &rules[i]; r.base {
			l.base.add(r, int32(i))
		} else {
			l.whole.add(r, int32(i))
		}
	}
	return l
}

func newLookup() lookup {
	return lookup{exact: map[string][]int32{}, head: map[string][]int32{}, tail: map[string][]int32{}}
}

func (l *lookup) add(r *rule, i int32) {
	tail := literalTail(r.toks)
	switch {
	case r.exact:
		l.exact[r.prefix] = append(l.exact[r.prefix], i)
	case r.prefix == "" && tail == "":
		l.rest = append(l.rest, i)
	case min(len(r.prefix), keyLength) >= len(tail):
		key := r.prefix[:min(len(r.prefix), keyLength)]
		l.head[key] = append(l.head[key], i)
	default:
		l.tail[tail] = append(l.tail[tail], i)
	}
}

// literalTail is what every name that toks match ends with, at most keyLength bytes.
func literalTail(toks []token) string {
	at := len(toks)
	for at > 0 && len(toks)-at < keyLength && toks[at-1].op == opByte {
		at--
	}
	b := make([]byte, 0, keyLength)
	for _, t := range toks[at:] {
		b = append(b, t.b)
	}
	return string(b)
}

// last is the index of the last rule after from that matches, or from. The rules
// of the table are about subject: the name, or its last element.
func (l *lookup) last(rules []rule, from int32, subject, name, base string, dir bool) int32 {
	best := from
	try := func(list []int32) {
		for i := len(list) - 1; i >= 0 && list[i] > best; i-- {
			if rules[list[i]].matches(name, base, dir) {
				best = list[i]
			}
		}
	}
	try(l.exact[subject])
	for n := 1; n <= min(keyLength, len(subject)); n++ {
		try(l.head[subject[:n]])
		try(l.tail[subject[len(subject)-n:]])
	}
	try(l.rest)
	return best
}

// lastOf is ruleList.last for a long list.
func (l *lookups) lastOf(rules []rule, name, base string, dir bool) *rule {
	best := l.whole.last(rules, -1, name, name, base, dir)
	best = l.base.last(rules, best, base, name, base, dir)
	if best < 0 {
		return nil
	}
	return &rules[best]
}
