package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type inner struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

type base struct {
	ID    int `json:"id"`
	Shade int `json:"shade"`
}

type outer struct {
	base
	Text   string            `json:"text"`
	Size   int               `json:"size,omitempty"`
	Small  uint8             `json:"small"`
	Ratio  float64           `json:"ratio"`
	On     *bool             `json:"on"`
	One    inner             `json:"one"`
	Many   []inner           `json:"many"`
	ByName map[string]*inner `json:"by_name"`
	Shade  string            `json:"shade"`
	Raw    json.RawMessage   `json:"raw"`
	When   time.Time         `json:"when"`
	Next   *outer            `json:"next"`
	Plain  string
	Hidden string `json:"-"`
	secret string //lint:ignore U1000 no JSON may reach it
}

var decoder = NewDecoder[outer]()

func TestDecode(t *testing.T) {
	got, err := decoder.Decode([]byte(` {"id":7,"text":"a","on":true,"one":{"name":"n","tags":["x"]},"many":[{},{"name":"m"}],
		"by_name":{"Any Key":{"name":"k"}},"shade":"dark","raw":{"Anything":[1]},"when":"2026-11-29T10:00:00Z",
		"next":{"next":{"size":3}},"Plain":"p","ratio":1e3} `))
	if err != nil {
		t.Fatal(err)
	}
	on := true
	want := outer{base: base{ID: 7}, Text: "a", On: &on, One: inner{"n", []string{"x"}}, Many: []inner{{}, {Name: "m"}},
		ByName: map[string]*inner{"Any Key": {Name: "k"}}, Shade: "dark", Raw: json.RawMessage(`{"Anything":[1]}`),
		When: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC), Next: &outer{Next: &outer{Size: 3}}, Plain: "p", Ratio: 1000}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeNothing(t *testing.T) {
	for _, text := range []string{"", "null", " null ", "{}"} {
		if got, err := decoder.Decode([]byte(text)); err != nil || !reflect.DeepEqual(got, outer{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"nope":1}`, `nope: unknown field`},
		{`{"TEXT":"a"}`, `TEXT: unknown field (did you mean "text"? names are case-sensitive)`},
		{`{"plain":"a"}`, `plain: unknown field (did you mean "Plain"? names are case-sensitive)`},
		{`{"Hidden":"a"}`, `Hidden: unknown field`},
		{`{"secret":"a"}`, `secret: unknown field`},
		{`{"base":{}}`, `base: unknown field`},
		{`{"many":[{},{"nam":1}]}`, `many[1].nam: unknown field`},
		{`{"by_name":{"k":{"nam":1}}}`, `by_name.k.nam: unknown field`},
		{`{"next":{"next":{"one":{"x":1}}}}`, `next.next.one.x: unknown field`},
		{`{"text":1}`, `text: must be a string, not a number`},
		{`{"text":{}}`, `text: must be a string, not an object`},
		{`{"size":"1"}`, `size: must be a whole number, not a string`},
		{`{"size":1.5}`, `size: must be a whole number, not number 1.5`},
		{`{"size":99999999999999999999}`, `size: must be a whole number, not number 99999999999999999999`},
		{`{"small":-1}`, `small: must be a whole number of 0 or more, not number -1`},
		{`{"ratio":[]}`, `ratio: must be a number, not an array`},
		{`{"on":"yes"}`, `on: must be true or false, not a string`},
		{`{"one":[]}`, `one: must be an object, not an array`},
		{`{"many":{}}`, `many: must be an array, not an object`},
		{`{"one":{"tags":true}}`, `one.tags: must be an array, not true or false`},
		{`[]`, `must be an object with named fields, not an array`},
		{` "x"`, `must be an object with named fields, not a string`},
		{`1`, `must be an object with named fields, not a number`},
		{`true`, `must be an object with named fields, not true or false`},
		{`{"text":"a","text":"b"}`, `the name "text" comes twice in one object at byte 12`},
		{`{"text":"a","t\u0065xt":"b"}`, `the name "text" comes twice in one object at byte 12`},
		{`{} {}`, `'{' where the end is expected at byte 3`},
		{`{"raw":{"a":1,"a":1}}`, `the name "a" comes twice in one object at byte 14`},
	} {
		got, err := decoder.Decode([]byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
		if !reflect.DeepEqual(got, outer{}) {
			t.Errorf("%s: an error, and a value %+v", c.text, got)
		}
	}
}

func TestSyntax(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{`, `}`, `[`, `[1`, `[1,`, `[1,]`, `[,]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a" 1}`,
		`01`, `-`, `-a`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x1`, `NaN`, `tru`, `truE`, `nul`, `falsee`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u123g"`,
		"\"\x1f\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud800\ud800"`, `"\ud800x"`,
		"\ufeff1", "1 2", "\x00", "'a'", "/**/1",
	} {
		var se *SyntaxError
		if err := Check([]byte(text)); !errors.As(err, &se) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	for _, text := range []string{
		`0`, `-0`, `10.25e-7`, `1E5`, `true`, ` false `, `null`, `""`, `"\u00e9\ud83d\ude00\n\/"`, `"é😀"`, "\"\x7f\"", `[]`, `[ ]`, `{ }`, `[[],{}]`,
		"\t{\r\n\"a\" : [1 , 2]\n}",
	} {
		if err := Check([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat(`[{"a":`, n) + "1" + strings.Repeat("}]", n)) }
	if err := Check(nest(MaxDepth / 2)); err != nil {
		t.Error(err)
	}
	if err := Check(nest(MaxDepth/2 + 1)); err == nil {
		t.Error("nesting is not bounded")
	}
	// Depth is what is open, not what has been.
	if err := Check([]byte("[" + strings.Repeat("[],{},", 1000) + "1]")); err != nil {
		t.Error(err)
	}
}

func TestManyNames(t *testing.T) {
	var b bytes.Buffer
	for i := range 50000 {
		fmt.Fprintf(&b, `,"n%d":1`, i)
	}
	text := b.Bytes()
	text[0] = '{'
	if err := Check(append(bytes.Clone(text), '}')); err != nil {
		t.Error(err)
	}
	if err := Check(append(text, `,"n3":1}`...)); err == nil || !strings.Contains(err.Error(), `"n3" comes twice`) {
		t.Errorf("got %v", err)
	}
}

func TestMembersAndElements(t *testing.T) {
	members, err := Members([]byte(` { "a" : [1, 2] , "\u0062":"x"} `))
	if err != nil || len(members) != 2 || members[0].Name != "a" || string(members[0].Value) != "[1, 2]" ||
		members[1].Name != "b" || string(members[1].Value) != `"x"` {
		t.Errorf("%q, %v", members, err)
	}
	elements, err := Elements([]byte(`[ 1 ,{"a":2} ]`))
	if err != nil || len(elements) != 2 || string(elements[0]) != "1" || string(elements[1]) != `{"a":2}` {
		t.Errorf("%q, %v", elements, err)
	}
	for _, text := range []string{`[]`, `1`, `{}1`, ``} {
		if _, err := Members([]byte(text)); err == nil {
			t.Errorf("%q has members", text)
		}
	}
	for _, text := range []string{`{}`, `1`, `[]1`, ``} {
		if _, err := Elements([]byte(text)); err == nil {
			t.Errorf("%q has elements", text)
		}
	}
}

// FuzzCheck compares with encoding/json: what is accepted is valid, and what
// is refused is either invalid or one of the things that encoding/json lets
// pass.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,true,null,"é\u00e9\ud83d\ude00"]}`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `[[[[]]]]`, `{"a":{"a":1}}`, ` 1 `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Check(data)
		valid := json.Valid(data)
		if err == nil && (!valid || !utf8.Valid(data)) {
			t.Fatalf("accepts %q", data)
		}
		if err == nil || !valid || !utf8.Valid(data) {
			return
		}
		for _, known := range []string{"comes twice", "unpaired surrogate", "nested deeper"} {
			if strings.Contains(err.Error(), known) {
				return
			}
		}
		t.Fatalf("refuses %q: %v", data, err)
	})
}

// FuzzDecode checks that what is accepted means the same to encoding/json's
// own strict mode, and that nothing panics.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"text":"a","many":[{"name":"x"}],"next":{"size":3},"by_name":{"k":null}}`, `{"Text":"a"}`, `{"size":1e2}`, `[]`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decoder.Decode(data)
		if err != nil {
			var se *SyntaxError
			var fe *FieldError
			if !errors.As(err, &se) && !errors.As(err, &fe) {
				t.Fatalf("%q: %T", data, err)
			}
			return
		}
		if len(data) == 0 {
			return
		}
		var want outer
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepts %q, which encoding/json refuses: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %+v, encoding/json %+v", data, got, want)
		}
	})
}
