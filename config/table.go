package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// table is one table of the file being decoded. Its methods named for a type
// take a key of that type: a missing key leaves *dst alone, a wrong value is
// reported and gives false.
type table struct {
	*decoder
	name   string // "" for the top level
	values map[string]any
	node   *node
	line   int
	known  []string
}

// take returns a key's value and notes the key as known.
func (t *table) take(key string) (any, bool) {
	t.known = append(t.known, key)
	v, ok := t.values[key]
	return v, ok
}

// lineOf returns the line of a key, or the table's for a key not given.
func (t *table) lineOf(key string) int { return t.node.get(key).lineOr(t.line) }

// given returns the first of keys that the file gives, or the last.
func (t *table) given(keys ...string) string {
	for _, k := range keys {
		if _, ok := t.values[k]; ok {
			return k
		}
	}
	return keys[len(keys)-1]
}

// fail reports an error of a key. It returns false, for its callers to return.
func (t *table) fail(key, format string, args ...any) bool {
	return t.failAt(t.lineOf(key), key, format, args...)
}

func (t *table) failAt(line int, key, format string, args ...any) bool {
	if t.name != "" {
		key = t.name + "." + key
	}
	t.errs = append(t.errs, &Error{File: t.file, Line: line, Key: key, Message: fmt.Sprintf(format, args...)})
	return false
}

// table decodes a table of this table.
func (t *table) table(key string, decode func(*table)) {
	v, ok := t.take(key)
	values, isTable := v.(map[string]any)
	if ok && !isTable {
		t.fail(key, "must be a table: write [%s] once (got %s)", key, describe(v))
		return
	}
	sub := &table{decoder: t.decoder, name: key, values: values, node: t.node.get(key), line: t.lineOf(key)}
	decode(sub)
	sub.finish()
}

// finish reports the keys that nothing has taken.
func (t *table) finish() {
	if t.decoder.known != nil {
		t.decoder.known[t.name] = slices.Clone(t.known)
	}
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(t.known, key) {
			t.failAt(t.lineOf(key), quoteKey(key), "unknown key%s", t.hint(key))
		}
	}
}

// hint says what an unknown key may have meant.
func (t *table) hint(key string) string {
	for table, keys := range schema() {
		if table != t.name && slices.Contains(keys, key) {
			switch table {
			case "":
				return fmt.Sprintf(" here: [%s] stands by itself", key)
			case "folder":
				return fmt.Sprintf(" here: %s belongs in [[folder]]", key)
			}
			return fmt.Sprintf(" here: %s belongs in [%s]", key, table)
		}
	}
	if s := Suggest(key, t.known); s != "" {
		return fmt.Sprintf(": did you mean %s?", s)
	}
	known := slices.Sorted(slices.Values(t.known))
	return fmt.Sprintf(": the keys here are %s", strings.Join(known, ", "))
}

// wrongType reports a value of another type than wanted.
func (t *table) wrongType(key, want string, got any) bool {
	return t.fail(key, "must be %s (got %s)", want, describe(got))
}

func (t *table) str(key string, dst *string) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	s, ok := v.(string)
	if !ok {
		return t.wrongType(key, "a string in quotes", v)
	}
	*dst = s
	return true
}

func (t *table) boolean(key string, dst *bool) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	b, ok := v.(bool)
	if !ok {
		return t.wrongType(key, "true or false", v)
	}
	*dst = b
	return true
}

// integer takes a number of at least least; none may pass the 32 bits that an
// int has everywhere.
func (t *table) integer(key string, dst *int, least int64) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	n, ok := v.(int64)
	switch {
	case !ok:
		return t.wrongType(key, "a whole number", v)
	case n < least:
		return t.fail(key, "must be at least %d (got %d)", least, n)
	case n > math.MaxInt32:
		return t.fail(key, "must be at most %d (got %d)", math.MaxInt32, n)
	}
	*dst = int(n)
	return true
}

func (t *table) float(key string, dst *float64, least, most float64) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case int64:
		f = float64(v)
	default:
		return t.wrongType(key, "a number", v)
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return t.fail(key, "must be a finite number (got %v)", f)
	case f < least:
		return t.fail(key, "must be at least %v (got %v)", least, f)
	case f > most:
		return t.fail(key, "must be at most %v (got %v)", most, f)
	}
	*dst = f
	return true
}

func (t *table) enum(key string, dst *string, valid ...string) bool {
	got := *dst
	if !t.str(key, &got) {
		return false
	}
	if slices.Contains(valid, got) {
		*dst = got
		return true
	}
	hint := ""
	if s := Suggest(got, valid); s != "" {
		hint = fmt.Sprintf("; did you mean %q?", s)
	}
	return t.fail(key, "must be one of %s (got %q)%s", strings.Join(valid, ", "), got, hint)
}

func (t *table) path(key string, dst *string) bool {
	got := *dst
	if !t.str(key, &got) {
		return false
	}
	if got == *dst {
		return true
	}
	path, err := expandPath(got)
	if err != nil {
		return t.fail(key, "%v", err)
	}
	*dst = path
	return true
}

func (t *table) size(key string, dst *int64) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	n, ok := v.(int64)
	if s, isString := v.(string); isString {
		var err error
		if n, err = ParseSize(s); err != nil {
			return t.fail(key, "%v", err)
		}
	} else if !ok {
		return t.wrongType(key, `a size such as "64MiB" or a number of bytes`, v)
	}
	if n < 1 {
		return t.fail(key, "must be at least 1 byte (got %d)", n)
	}
	*dst = n
	return true
}

func (t *table) duration(key string, dst *time.Duration, least time.Duration) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	s, ok := v.(string)
	if !ok {
		return t.wrongType(key, `a duration in quotes such as "50ms"`, v)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return t.fail(key, `must be a duration such as "50ms" or "1h30m", in ns, us, ms, s, m or h (got %q)`, s)
	}
	if d < least {
		return t.fail(key, "must be at least %v (got %v)", least, d)
	}
	*dst = d
	return true
}

// globs takes an array of globs; each wrong one is reported on its own line.
func (t *table) globs(key string, dst *[]string) bool {
	return t.list(key, `an array of globs such as ["*.md"]`, "an array of globs in quotes", badGlob, dst)
}

// names takes an array of names of users or groups.
func (t *table) names(key string, dst *[]string) bool {
	return t.list(key, `an array of names such as ["alice"]`, "an array of names in quotes", badAccount, dst)
}

// badAccount says what is wrong with the name of a user or group, "" for nothing.
func badAccount(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return fmt.Sprintf("must be the name or number of an account (got %q)", name)
	}
	return ""
}

// list takes an array of strings; each one that bad objects to is reported on its own
// line.
func (t *table) list(key, form, elements string, bad func(string) string, dst *[]string) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	all, ok := v.([]any)
	if !ok {
		return t.wrongType(key, form, v)
	}
	good := true
	out := make([]string, 0, len(all))
	for i, e := range all {
		line := t.node.get(key).at(i).lineOr(t.lineOf(key))
		s, ok := e.(string)
		if !ok {
			good = t.failAt(line, key, "must be %s (got %s in it)", elements, describe(e))
		} else if bad := bad(s); bad != "" {
			good = t.failAt(line, key, "%s", bad)
		}
		out = append(out, s)
	}
	*dst = out
	return good
}

// describe names a TOML value for an error.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		const most = 60
		if r := []rune(v); len(r) > most {
			v = string(r[:most]) + "…"
		}
		return "the string " + strconv.Quote(v)
	case int64:
		return fmt.Sprintf("the integer %d", v)
	case float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return fmt.Sprintf("the boolean %v", v)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	}
	return "an array"
}
