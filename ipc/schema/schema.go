// Package schema describes the protocol's messages in JSON Schema (draft
// 2020-12), made from their Go types, so that the two cannot drift apart.
package schema

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"quern/ipc"
)

// overrides are the types whose JSON the Go type does not show.
var overrides = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
}

// wirer is a type that is another one in JSON.
type wirer interface{ Wire() any }

// Of returns the schema of a type's JSON: an object has the members that the
// type has and no others; those that may be left out are not required.
func Of(t reflect.Type) (json.RawMessage, error) {
	if w, ok := reflect.Zero(t).Interface().(wirer); ok {
		t = reflect.TypeOf(w.Wire())
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: overrides})
	if err != nil {
		return nil, fmt.Errorf("describe %v: %w", t, err)
	}
	if t == reflect.TypeFor[ipc.Empty]() {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("describe %v: %w", t, err)
	}
	return b, nil
}

// Method returns the schemas of a method.
func Method(params, result reflect.Type) (ipc.MessageSchemas, error) {
	p, err := Of(params)
	if err != nil {
		return ipc.MessageSchemas{}, err
	}
	r, err := Of(result)
	return ipc.MessageSchemas{Params: p, Result: r}, err
}

// Notifications returns the schemas of the params of all notifications.
func Notifications() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for method, t := range map[string]reflect.Type{
		ipc.MethodCancel:   reflect.TypeFor[ipc.CancelParams](),
		ipc.MethodChanged:  reflect.TypeFor[ipc.Changed](),
		ipc.MethodProgress: reflect.TypeFor[ipc.ProgressNotice](),
	} {
		s, err := Of(t)
		if err != nil {
			return nil, err
		}
		out[method] = s
	}
	return out, nil
}
