package strict

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Decoder reads JSON objects into values of type T. It is safe for
// concurrent use.
type Decoder[T any] struct{ shape *shape }

// NewDecoder learns T's fields.
func NewDecoder[T any]() Decoder[T] {
	return Decoder[T]{shapeOf(reflect.TypeFor[T](), map[reflect.Type]*shape{})}
}

// Decode reads data, which must be exactly one JSON object (or null, or
// empty: the zero value), into a T. The error is a *SyntaxError or a
// *FieldError.
func (d Decoder[T]) Decode(data []byte) (T, error) {
	var v T
	if len(data) == 0 {
		return v, nil
	}
	if err := check(data, d.shape); err != nil {
		return v, err
	}
	switch kind := kindOf(data); kind {
	case "an object":
	case "null":
		return v, nil
	default:
		return v, &FieldError{Msg: "must be an object with named fields, not " + kind}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		var zero T
		return zero, fieldError(err)
	}
	return v, nil
}

// kindOf names the kind of a checked JSON value.
func kindOf(data []byte) string {
	s := scanner{data: data}
	s.space()
	switch s.peek() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// fieldError puts encoding/json's complaint about a type into plain words.
func fieldError(err error) error {
	var te *json.UnmarshalTypeError
	if !errors.As(err, &te) {
		return &FieldError{Msg: err.Error()}
	}
	got := te.Value
	switch got {
	case "bool":
		got = "true or false"
	case "array", "object":
		got = "an " + got
	case "string", "number":
		got = "a " + got
	}
	return &FieldError{Path: te.Field, Msg: fmt.Sprintf("must be %s, not %s", typeName(te.Type), got)}
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	}
	return "a " + t.String()
}

// within says that err happened inside the named field or element.
func within(name string, err error) error {
	fe, ok := err.(*FieldError)
	if !ok {
		return err
	}
	switch {
	case fe.Path == "":
		fe.Path = name
	case fe.Path[0] == '[':
		fe.Path = name + fe.Path
	default:
		fe.Path = name + "." + fe.Path
	}
	return fe
}

// shape is what a Go type says about the JSON it takes. A nil shape takes
// anything that encoding/json can make fit.
type shape struct {
	fields map[string]*shape // an object with exactly these names
	each   *shape            // the elements of an array or the values of a map
}

// member returns the shape of the named member and whether there is one.
func (sh *shape) member(name string) (*shape, bool) {
	if sh == nil {
		return nil, true
	}
	if sh.fields == nil {
		return sh.each, true
	}
	inner, ok := sh.fields[name]
	return inner, ok
}

func (sh *shape) elem() *shape {
	if sh == nil {
		return nil
	}
	return sh.each
}

// hint names the field that differs from name in case only.
func (sh *shape) hint(name string) string {
	for f := range sh.fields {
		if strings.EqualFold(f, name) {
			return fmt.Sprintf(" (did you mean %q? names are case-sensitive)", f)
		}
	}
	return ""
}

var (
	jsonType = reflect.TypeFor[json.Unmarshaler]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// shapeOf follows encoding/json's rules for t; known breaks cycles.
func shapeOf(t reflect.Type, known map[reflect.Type]*shape) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := reflect.PointerTo(t); p.Implements(jsonType) || p.Implements(textType) {
		return nil
	}
	if sh, ok := known[t]; ok {
		return sh
	}
	switch t.Kind() {
	case reflect.Struct:
		sh := &shape{fields: map[string]*shape{}}
		known[t] = sh
		addFields(sh, t, known)
		return sh
	case reflect.Slice, reflect.Array, reflect.Map:
		sh := &shape{}
		known[t] = sh
		sh.each = shapeOf(t.Elem(), known)
		return sh
	}
	return nil
}

// addFields adds the fields of t, those of embedded structs included.
func addFields(sh *shape, t reflect.Type, known map[reflect.Type]*shape) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			addEmbedded(sh, f.Type, known)
			continue
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		sh.fields[name] = shapeOf(f.Type, known)
	}
}

// addEmbedded adds an embedded struct's fields where the outer struct has
// none of that name.
func addEmbedded(sh *shape, t reflect.Type, known map[reflect.Type]*shape) {
	inner := shapeOf(t, known)
	if inner == nil {
		return
	}
	for name, field := range inner.fields {
		if _, ok := sh.fields[name]; !ok {
			sh.fields[name] = field
		}
	}
}
