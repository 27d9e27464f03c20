package ipc

import "encoding/json"

// SchemaParams ask for the JSON Schema of the protocol, or of one method.
type SchemaParams struct {
	Method string `json:"method,omitempty"`
}

// SchemaResult has JSON Schemas of draft 2020-12.
type SchemaResult struct {
	Protocol      string                     `json:"protocol"` // its version
	Methods       map[string]MessageSchemas  `json:"methods"`
	Notifications map[string]json.RawMessage `json:"notifications"` // of the params, by method
	Error         json.RawMessage            `json:"error"`         // of the error object of an answer
}

// MessageSchemas are the schemas of a method's params and result.
type MessageSchemas struct {
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}
