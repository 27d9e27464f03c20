package server

import (
	"encoding/json"

	"quern/ipc"
	"quern/ipc/internal/strict"
)

// request is one JSON-RPC request, or a notification when it has no id.
type request struct {
	id     []byte // as the client wrote it; nil: a notification
	method string
	params []byte // nil: left out
}

// parseRequest reads a request object. With an error it returns what is
// known of the id, for the answer.
func parseRequest(data []byte) (request, *ipc.Error) {
	var r request
	members, err := strict.Members(data)
	if err != nil {
		return r, syntaxError(data, err)
	}
	version := ""
	for _, m := range members {
		switch m.Name {
		case "jsonrpc":
			version = stringOf(m.Value)
		case "method":
			r.method = stringOf(m.Value)
		case "params":
			r.params = m.Value
		case "id":
			r.id = m.Value
		}
	}
	if r.id != nil && !isID(r.id) {
		r.id = nil
		return r, ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: id must be a string, a number or null")
	}
	if version != "2.0" {
		return r, ipc.Errorf(ipc.CodeInvalidRequest, `invalid request: "jsonrpc": "2.0" is missing`)
	}
	if r.method == "" {
		return r, ipc.Errorf(ipc.CodeInvalidRequest, `invalid request: "method" must name a method`)
	}
	return r, nil
}

// syntaxError tells text that is not JSON from JSON that is not an object.
func syntaxError(data []byte, err error) *ipc.Error {
	if strict.Check(data) == nil {
		return ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: it must be a JSON object")
	}
	return ipc.Errorf(ipc.CodeParse, "parse error: %v", err)
}

// stringOf returns the string that checked JSON stands for, "" for any other
// value.
func stringOf(value []byte) string {
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// isID reports whether checked JSON may be an id.
func isID(value []byte) bool {
	switch c := value[0]; {
	case c == '"', c == '-', c == 'n', '0' <= c && c <= '9':
		return true
	}
	return false
}

// resultMessage makes a response. The id goes back byte for byte, so that a
// number of any length survives.
func resultMessage(id, result []byte) []byte {
	return message(id, "result", result)
}

// errorMessage makes an error response; a nil id is written as null.
func errorMessage(id []byte, e *ipc.Error) []byte {
	body, err := encode(e)
	if err != nil { // the handler's data is not JSON
		body, _ = encode(&ipc.Error{Code: e.Code, Message: e.Message})
	}
	return message(id, "error", body)
}

func message(id []byte, kind string, body []byte) []byte {
	if id == nil {
		id = []byte("null")
	}
	const envelope = len(`{"jsonrpc":"2.0","id":,"result":}`) + 1 // and a line end
	b := make([]byte, 0, envelope+len(id)+len(body))
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"`...)
	b = append(b, kind...)
	b = append(b, `":`...)
	b = append(b, body...)
	return append(b, '}')
}
