package schema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quern/ipc"
	"quern/ipc/schema"
)

// compile makes a validator that is not the maker's.
func compile(t *testing.T, s json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("x.json", doc); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile("x.json")
	if err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return out
}

func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// The schema of a type takes what the type writes, and tells what is too much,
// missing or of another type.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		typ       reflect.Type
		good, bad []string
	}{
		{reflect.TypeFor[ipc.SearchParams](), []string{`{"query":"x"}`, `{"query":"x","k":3,"types":["md"],"text":false}`},
			[]string{`{}`, `{"query":1}`, `{"query":"x","limit":3}`, `{"query":"x","types":[1]}`, `[]`}},
		{reflect.TypeFor[ipc.SearchResult](), []string{marshal(t, ipc.SearchResult{}), marshal(t, ipc.SearchResult{TotalAtLeast: true, Hits: []ipc.Hit{{Heading: []string{}}}})},
			[]string{`{}`, `{"Query":"x"}`}},
		{reflect.TypeFor[ipc.StatusResult](), []string{marshal(t, ipc.StatusResult{Folders: []ipc.FolderStatus{{}}, File: &ipc.FileStatus{}})}, []string{`{}`}},
		{reflect.TypeFor[ipc.Empty](), []string{`{}`}, []string{`{"x":1}`, `[]`}},
		{reflect.TypeFor[ipc.CancelParams](), []string{`{"id":1}`, `{"id":"x"}`}, []string{`{}`, `{"ID":1}`}},
	} {
		text, err := schema.Of(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		s := compile(t, text)
		for _, good := range c.good {
			if err := valid(t, s, good); err != nil {
				t.Errorf("%v refuses %s: %v", c.typ, good, err)
			}
		}
		for _, bad := range c.bad {
			if valid(t, s, bad) == nil {
				t.Errorf("%v takes %s", c.typ, bad)
			}
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNotifications(t *testing.T) {
	all, err := schema.Notifications()
	if err != nil {
		t.Fatal(err)
	}
	s := compile(t, all[ipc.MethodChanged])
	if err := valid(t, s, marshal(t, ipc.Changed{Added: []string{"/a"}})); err != nil {
		t.Error(err)
	}
}
