package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestTemplateIsDefault(t *testing.T) {
	x := DefaultFolder("/b/x")
	x.Hidden = true
	for _, folders := range [][]Folder{nil, {DefaultFolder("/a/notes")}, {DefaultFolder("/a/notes"), x}} {
		want := Default()
		want.Path, want.Folders = "config.toml", folders
		if got := mustParse(t, string(Template(folders))); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// What the template says of the defaults is so, and it leaves no key out.
func TestTemplateExplainsEveryKey(t *testing.T) {
	setting := regexp.MustCompile(`(?m)^# +(([a-z_0-9]+) = |\[\[(?:folder|extractor)\]\])`)
	text := setting.ReplaceAllString(string(Template(nil)), "$1")
	t.Setenv("HOME", "/home/u")
	t.Setenv("USERPROFILE", `C:\u`)
	got := mustParse(t, text)
	want := Default()
	want.Path = "config.toml"
	f := DefaultFolder(got.Folders[0].Path)
	f.Exclude, f.Users, f.Groups = []string{}, []string{}, []string{}
	want.Folders = []Folder{f}
	want.Extractors = []Extractor{{Type: "djvu", Command: []string{"djvutxt", "-"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("uncommented:\ngot  %+v\nwant %+v", got, want)
	}
	for table, keys := range schema() {
		section := text
		if table != "" {
			_, section, _ = strings.Cut(text, "["+table+"]")
			section, _, _ = strings.Cut(section, "\n[")
		}
		for _, key := range keys {
			if !strings.Contains(section, "\n"+key+" = ") && !strings.Contains(section, "["+key+"]") {
				t.Errorf("[%s] %s is not in the template", table, key)
			}
		}
	}
	if len(schema()) != 8 {
		t.Errorf("tables: %v", schema())
	}
}

func TestTemplateTakesFolders(t *testing.T) {
	path := file(t, string(Template(nil)))
	if err := AddFolder(path, DefaultFolder("/a")); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), string(Template([]Folder{DefaultFolder("/a")})); got != want {
		t.Errorf("AddFolder and Template differ:\n%s\n%s", got, want)
	}
}
