package server

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// queryParams makes a params object of a URL's query: each name is a member of
// the params type, and its value is read as that member's type. q is short for
// query. Values of a list come with commas, or with the name again.
func queryParams(raw string, params reflect.Type) ([]byte, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fmt.Errorf("the URL's query: %w", err)
	}
	fields := jsonFields(params)
	out := map[string]any{}
	for name, given := range values {
		if _, ok := fields["query"]; ok && name == "q" {
			name = "query"
		}
		if _, ok := out[name]; ok {
			return nil, fmt.Errorf("%s: given as q, too", name)
		}
		if out[name], err = queryValue(given, fields[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return encode(out)
}

// queryValue reads a value as type t; an unknown member (nil) stays a string,
// and the decoder names it.
func queryValue(given []string, t reflect.Type) (any, error) {
	if t != nil && t.Kind() == reflect.Slice {
		return strings.Split(strings.Join(given, ","), ","), nil
	}
	if len(given) != 1 {
		return nil, fmt.Errorf("given %d times", len(given))
	}
	v := given[0]
	if t == nil {
		return v, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		if v == "" {
			return true, nil
		}
		b, err := strconv.ParseBool(v)
		if err != nil {
			return nil, fmt.Errorf("must be true or false, not %q", v)
		}
		return b, nil
	case reflect.Int, reflect.Int64, reflect.Uint64:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number, not %q", v)
		}
		return n, nil
	}
	return v, nil
}

// jsonFields are the members of a params type by their names on the wire, those
// of embedded structs included; pointers are followed.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return out
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" {
			continue
		}
		ft := f.Type
		for ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		out[name] = ft
	}
	return out
}
