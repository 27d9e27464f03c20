package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"quern/ipc"
)

// fuzzedMethods are all but those that end the daemon, have it rest or change what
// it watches.
var fuzzedMethods = []string{
	ipc.MethodHello, ipc.MethodSearch, ipc.MethodPassages, ipc.MethodSimilar, ipc.MethodExplain, ipc.MethodRecent,
	ipc.MethodStatus, ipc.MethodSync, ipc.MethodSubscribe, ipc.MethodUnsubscribe, ipc.MethodReindex, ipc.MethodVerify,
	ipc.MethodReload, ipc.MethodFoldersList, ipc.MethodSchema,
}

// FuzzMethods calls every method with any params: each must be answered, with a
// result that fits the schema or with an error that does, and none is internal.
func FuzzMethods(f *testing.F) {
	for i, seeds := range [][]string{
		{`{}`, `{"client":"x","version":"1"}`},
		{`{"query":"billing refunds","k":2,"offset":1,"model":"bm25","tf":"raw","collapse":"document","explain":true,"session":"s"}`,
			`{"query":"\u0000\ud83d\ude00 +-\"~*","folders":["notes"],"path":"**/*.txt","types":["txt"],"since":"7d","before":"2030-01-01","budget":3}`,
			`{"query":"` + "x*" + `","sync":true,"sync_timeout_ms":1,"text":false,"literal":true}`},
		{`{"path":"/a/b","n":3}`},
		{`{"text":"billing of refunds"}`, `{"path":"/a","line":3}`, `{"path":"/a","passage":-1}`},
		{`{"query":"x","path":"/a","passage":0}`},
		{`{"since":"1d","k":5,"offset":2,"types":["txt"]}`},
		{`{"path":"/a"}`},
		{`{"timeout_ms":1}`},
		{`{"since":3,"instance":"x","path":"*"}`},
		{`{"subscription":1}`},
		{`{"path":"/a"}`},
		{`{"repair":true}`},
		{`{}`},
		{`{}`, `[]`, `null`, `7`},
		{`{"method":"search"}`},
	} {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
		}
	}
	dir := shortDir(f)
	notes := filepath.Join(dir, "notes")
	mkdir(f, notes)
	write(f, filepath.Join(notes, "a.txt"), "Billing refunds go back to the card.\n")
	h := startOn(f, dir, notes, "[[folder]]\npath = \""+notes+"\"\n")
	h.sync()
	all := h.schemas()
	f.Fuzz(func(t *testing.T, n byte, params []byte) {
		if !json.Valid(params) {
			return // the framing's own target has these
		}
		method := fuzzedMethods[int(n)%len(fuzzedMethods)]
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var result json.RawMessage
		err := h.client.Call(ctx, method, json.RawMessage(params), &result)
		var e *ipc.Error
		switch {
		case err == nil:
			checkSchema(t, all.result[method], method+" result", result)
		case errors.As(err, &e) && e.Code != ipc.CodeInternal:
			b, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			checkSchema(t, all.errors, method+" error", b)
		case len(params) > ipc.MaxRequestBytes/2:
		default:
			t.Errorf("%s %s: %v", method, params, err)
		}
	})
}

// TestEveryMethodIsFuzzed keeps the list above whole.
func TestEveryMethodIsFuzzed(t *testing.T) {
	h := start(t, "")
	left := map[string]bool{ipc.MethodPause: true, ipc.MethodResume: true, ipc.MethodShutdown: true, ipc.MethodFoldersAdd: true, ipc.MethodFoldersRemove: true}
	for _, m := range fuzzedMethods {
		left[m] = true
	}
	for method := range call[ipc.SchemaResult](h, ipc.MethodSchema, nil).Methods {
		if !left[method] {
			t.Errorf("%s is not fuzzed", method)
		}
	}
}
