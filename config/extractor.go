package config

import (
	"regexp"
	"strings"
)

// extractors decodes [[extractor]] and refuses a type named twice.
func (d *decoder) extractors(top *table, c *Config) {
	v, ok := top.take("extractor")
	if !ok {
		return
	}
	tables, ok := tableList(v)
	if !ok {
		top.fail("extractor", "must be written [[extractor]], once for each type (got %s)", describe(v))
		return
	}
	seen := map[string]int{}
	for i, values := range tables {
		n := top.node.get("extractor").at(i)
		t := &table{decoder: d, name: "extractor", values: values, node: n, line: n.lineOr(top.lineOf("extractor"))}
		e := t.extractor()
		t.finish()
		if line, twice := seen[e.Type]; twice && e.Type != "" {
			t.fail("type", "%q is named twice: first in the extractor on line %d", e.Type, line)
		}
		seen[e.Type] = t.line
		c.Extractors = append(c.Extractors, e)
	}
}

// typeForm is what a file's type may look like.
var typeForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_+-]{0,14}$`)

// extractor decodes one [[extractor]].
func (t *table) extractor() (e Extractor) {
	if _, given := t.values["type"]; !given {
		t.fail("type", "is missing: every [[extractor]] needs one")
	}
	if t.str("type", &e.Type) && t.values["type"] != nil && !typeForm.MatchString(e.Type) {
		t.fail("type", `must be how the names of the files end, in lower case and without a dot, such as "djvu" (got %q)`, e.Type)
	}
	if _, given := t.values["command"]; !given {
		t.take("command")
		t.fail("command", `is missing: every [[extractor]] needs one, such as ["djvutxt", "-"]`)
		return e
	}
	if t.strings("command", &e.Command) && (len(e.Command) == 0 || e.Command[0] == "") {
		t.fail("command", "must name a program")
	}
	for _, arg := range e.Command {
		if strings.ContainsRune(arg, 0) {
			t.fail("command", "must not contain a NUL character")
		}
	}
	return e
}

// strings takes an array of strings.
func (t *table) strings(key string, dst *[]string) bool {
	v, ok := t.take(key)
	if !ok {
		return true
	}
	list, ok := v.([]any)
	if !ok {
		return t.wrongType(key, "an array of strings", v)
	}
	*dst = make([]string, len(list))
	for i, e := range list {
		if (*dst)[i], ok = e.(string); !ok {
			return t.wrongType(key, "an array of strings", e)
		}
	}
	return true
}
