package ipc

import (
	"encoding/json"
	"fmt"
)

// Error codes: the first five are JSON-RPC 2.0's own.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBadQuery       = -32000
	CodeNotFound       = -32001
	CodeBusy           = -32002
	CodeNotPermitted   = -32003
	CodeTimeout        = -32004
	CodeShuttingDown   = -32005
	CodeCancelled      = -32800
)

// Error is a JSON-RPC error object. Handlers return it to choose a code; any
// other error is sent as CodeInternal.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Is makes errors.Is compare by code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf makes an Error with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// QueryErrorData is the data of a CodeBadQuery error.
type QueryErrorData struct {
	// Column is the 1-based column, in characters, at which the query fails
	// to parse.
	Column int `json:"column"`
}
