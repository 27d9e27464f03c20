package daemon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"quern/ipc"
)

// schemas are what the method schema says of all others, compiled by a library
// that did not make them.
type schemas struct {
	params, result map[string]*jsonschema.Schema
	notifications  map[string]*jsonschema.Schema
	errors         *jsonschema.Schema
}

var (
	served     *schemas
	servedOnce sync.Once
)

// checkSchemas checks a request that was answered, and its answer, against the
// schemas that the daemon serves.
func checkSchemas(h *harness, method string, params any, result json.RawMessage) {
	h.t.Helper()
	servedOnce.Do(func() { served = h.schemas() })
	p, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	if string(p) == "null" {
		p = []byte("{}")
	}
	checkSchema(h.t, served.params[method], method+" params", p)
	checkSchema(h.t, served.result[method], method+" result", result)
}

func checkSchema(t testing.TB, s *jsonschema.Schema, what string, text []byte) {
	t.Helper()
	if s == nil {
		t.Errorf("there is no schema of %s", what)
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s: %v in %.2000s", what, err, text)
	}
}

func (h *harness) schemas() *schemas {
	h.t.Helper()
	var all ipc.SchemaResult
	if err := h.client.Call(h.t.Context(), ipc.MethodSchema, nil, &all); err != nil {
		h.t.Fatal(err)
	}
	out := &schemas{map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}, compile(h.t, all.Error)}
	for name, m := range all.Methods {
		out.params[name], out.result[name] = compile(h.t, m.Params), compile(h.t, m.Result)
	}
	for name, n := range all.Notifications {
		out.notifications[name] = compile(h.t, n)
	}
	return out
}

func compile(t testing.TB, text json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("served.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("served.json")
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

func TestSchema(t *testing.T) {
	h := start(t, "")
	one := call[ipc.SchemaResult](h, ipc.MethodSchema, ipc.SchemaParams{Method: ipc.MethodSearch})
	if len(one.Methods) != 1 || !strings.Contains(string(one.Methods[ipc.MethodSearch].Params), `"query"`) {
		t.Errorf("got %+v", one.Methods)
	}
	if _, err := try[ipc.SchemaResult](h, ipc.MethodSchema, ipc.SchemaParams{Method: "nope"}); code(err) != ipc.CodeNotFound {
		t.Errorf("an unknown method: %v", err)
	}
	all := h.schemas()
	for _, bad := range []string{`{"query":"x","limit":1}`, `{}`, `{"query":1}`} {
		v, _ := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if all.params[ipc.MethodSearch].Validate(v) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}
