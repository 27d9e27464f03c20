package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is a tool as it is announced. All that clients are told of tools costs
// every one of their conversations, so it is short.
type tool struct {
	name, description string
	// properties and required describe the arguments, output the members of the
	// structured answer beside those that all have.
	properties, output string
	required           []string
}

// choosing are the arguments that choose documents.
const choosing = `"folders":{"type":"array","items":{"type":"string"},"description":"names or directories"},` +
	`"path":{"type":"string","description":"glob: **/*.md"},` +
	`"since":{"type":"string","description":"7d or 2026-01-31"}`

const (
	amountProperty = `"k":{"type":"integer","description":"most hits"}`
	budgetProperty = `"budget":{"type":"integer","description":"most tokens of text"}`
	hitsOutput     = `"total":{"type":"integer"},"hits":{"type":"array","items":{"type":"object"}}`
)

var (
	searchTool = tool{
		name:        "search",
		description: "Full-text search in the user's files: ranked passages with path and lines. Words are OR-ed; use the words a text would contain.",
		properties:  `"query":{"type":"string"},` + amountProperty + `,` + budgetProperty + `,` + choosing + `,"types":{"type":"array","items":{"type":"string"},"description":"md, pdf"}`,
		required:    []string{"query"},
		output:      hitsOutput + `,"suggestions":{"type":"array","items":{"type":"string"}}`,
	}
	getTool = tool{
		name:        "get",
		description: "Read a document's passages from a number on (0: its start), as indexed.",
		properties:  `"path":{"type":"string"},"passage":{"type":"integer"},` + budgetProperty,
		required:    []string{"path"},
		output:      `"passages":{"type":"array","items":{"type":"object"}},"next":{"type":"integer"}`,
	}
	similarTool = tool{
		name:        "similar",
		description: "Passages like a passage (path with line or passage), a document (path) or a text.",
		properties:  `"path":{"type":"string"},"line":{"type":"integer"},"passage":{"type":"integer"},"text":{"type":"string"},` + amountProperty + `,` + budgetProperty,
		output:      hitsOutput,
	}
	recentTool = tool{
		name:        "recent",
		description: "Documents changed lately, newest first.",
		properties:  `"k":{"type":"integer"},` + choosing,
		output:      `"total":{"type":"integer"},"documents":{"type":"array","items":{"type":"object"}}`,
	}
	statusTool = tool{
		name:        "status",
		description: "What is indexed and how fresh; with path, why a file is or is not indexed.",
		properties:  `"path":{"type":"string"}`,
		output:      `"state":{"type":"string"},"folders":{"type":"array","items":{"type":"object"}},"file":{"type":"object"}`,
	}
)

// freshnessOutput are the members that every structured answer has.
const freshnessOutput = `"generation":{"type":"integer"},"pending":{"type":"integer"},"fresh":{"type":"boolean"}`

func (t tool) inputSchema() json.RawMessage {
	required := ""
	if len(t.required) > 0 {
		required = `,"required":["` + strings.Join(t.required, `","`) + `"]`
	}
	return json.RawMessage(`{"type":"object","properties":{` + t.properties + `}` + required + `,"additionalProperties":false}`)
}

func (t tool) outputSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + freshnessOutput + `,` + t.output + `},"required":["generation","fresh"]}`)
}

// reply is a tool's answer, for programs and for the model.
type reply struct {
	structured any
	text       string
}

// addTool announces a tool whose arguments are an In. What is wrong with them is
// told in text, so that the model can do better.
func addTool[In any](s *sdk.Server, t tool, h func(context.Context, In) (reply, error)) {
	no := false
	s.AddTool(&sdk.Tool{
		Name: t.name, Description: t.description, InputSchema: t.inputSchema(), OutputSchema: t.outputSchema(),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in In
		r, err := reply{}, decodeArguments(t, req.Params.Arguments, &in)
		if err == nil {
			r, err = h(ctx, in)
		}
		if err != nil {
			return &sdk.CallToolResult{IsError: true, Content: textContent(t.name + ": " + explained(err))}, nil
		}
		return &sdk.CallToolResult{Content: textContent(r.text), StructuredContent: r.structured}, nil
	})
}

func textContent(text string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: text}} }

// decodeArguments reads a tool's arguments strictly.
func decodeArguments(t tool, raw json.RawMessage, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(in)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("argument %q must be %s, not a %s", wrong.Field, kindName(wrong.Type), wrong.Value)
	case err != nil:
		name, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
		if !ok {
			return fmt.Errorf("the arguments cannot be read: %w", err)
		}
		return fmt.Errorf("unknown argument %s (it takes: %s)", name, strings.Join(argumentNames(in), ", "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the arguments must be one JSON object")
	}
	return t.checkRequired(raw)
}

func (t tool) checkRequired(raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the arguments must be an object: %w", err)
	}
	for _, name := range t.required {
		if v, ok := given[name]; !ok || string(v) == "null" || string(v) == `""` {
			return fmt.Errorf("argument %q is missing", name)
		}
	}
	return nil
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct:
		return "an object"
	}
	return "a whole number"
}

func argumentNames(in any) []string {
	var out []string
	for f := range reflect.TypeOf(in).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}
