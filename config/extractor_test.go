package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestExtractors(t *testing.T) {
	c, err := Parse("c.toml", []byte("[[extractor]]\ntype = 'djvu'\ncommand = ['djvutxt', '-']\n[[extractor]]\ntype = 'x1'\ncommand = ['cat']\n"))
	want := []Extractor{{"djvu", []string{"djvutxt", "-"}}, {"x1", []string{"cat"}}}
	if err != nil || !reflect.DeepEqual(c.Extractors, want) {
		t.Errorf("%+v, %v", c.Extractors, err)
	}
	for text, reason := range map[string]string{
		"[extractor]\ntype = 'x'":                                                        "1: extractor: must be written [[extractor]]",
		"[[extractor]]\ncommand = ['x']":                                                 "1: extractor.type: is missing",
		"[[extractor]]\ntype = '.X'\ncommand=['x']":                                      "2: extractor.type: must be how the names",
		"[[extractor]]\ntype = 'x'":                                                      "1: extractor.command: is missing",
		"[[extractor]]\ntype = 'x'\ncommand='x'":                                         "3: extractor.command: must be an array of strings",
		"[[extractor]]\ntype = 'x'\ncommand=[1]":                                         "3: extractor.command: must be an array of strings",
		"[[extractor]]\ntype = 'x'\ncommand=[]":                                          "3: extractor.command: must name a program",
		"[[extractor]]\ntype = 'x'\ncmd=['x']":                                           "3: extractor.cmd: unknown key",
		"[[extractor]]\ntype='x'\ncommand=['x']\n[[extractor]]\ntype='x'\ncommand=['y']": "5: extractor.type: \"x\" is named twice",
	} {
		if _, err := Parse("c.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), "c.toml:"+reason) {
			t.Errorf("%q: %v, want %q", text, err, reason)
		}
	}
}
