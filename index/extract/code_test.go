package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Definitions are found in every language, under what encloses them.
func TestDefinitions(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a.go", "func (s *Store) Get(k string) {\n}\n\ntype Store struct {\n}\n", "Store.Get Store"},
		{"a.py", "@dec\nclass A(B):\n    def m(self):\n        pass\n\nasync def f():\n    pass\nx = 1\n", "A A/m f -"},
		{"a.c", "#include <x.h>\nstatic int *add(int a,\n  int b)\n{\n  if (a) {\n  }\n}\nstruct point {\n};\n", "add point"},
		{"a.cpp", "namespace n {\nvoid A::run(int x) {\n}\nclass B : A {\n};\n", "n A::run B"},
		{"a.java", "public class A {\n  private static int m(int a) {\n    if (x) {\n    }\n  }\n}\n", "A A/m"},
		{"a.kt", "data class P(val x: Int)\nfun main() {\n}\n", "P main"},
		{"a.cs", "namespace N\n{\n  public class A\n  {\n    public async Task<int> M(int a)\n    {\n    }\n  }\n}\n", "N N/A N/A/M"},
		{"a.js", "export default function go() {\n}\nconst f = async (a) => {\n};\nclass A {\n  m(x) {\n    for (;;) {\n    }\n  }\n}\n", "go f A A/m"},
		{"a.ts", "export interface I {\n}\nexport const g = (a: number): void => {\n};\n", "I g"},
		{"a.rs", "pub(crate) fn f<T>() {\n}\nimpl<T> Show for A<T> {\n    fn fmt(&self) {\n    }\n}\n", "f Show for A<T> Show for A<T>/fmt"},
		{"a.rb", "module M\n  class A\n    def self.go!\n    end\n  end\nend\n", "M M/A M/A/go!"},
		{"a.lua", "local function f()\nend\nM.g = function()\nend\n", "f M.g"},
		{"a.sh", "start() {\n  x\n}\nfunction stop {\n}\n", "start stop"},
		{"a.sql", "CREATE TABLE IF NOT EXISTS \"users\" (\n  id int\n);\ncreate or replace view v as\n", "users v"},
		{"a.hs", "module Main where\nadd :: Int\nadd = 1\n", "Main add"},
		{"a.ml", "let rec fact n =\n  1\n", "fact"},
		{"a.el", "(defun my-f (x)\n  x)\n", "my-f"},
		{"a.ex", "defmodule A.B do\n  def go(x) do\n  end\nend\n", "A.B A.B/go"},
		{"a.php", "class A {\n    public function go() {\n    }\n}\n", "A A/go"},
		{"a.pl", "package A::B;\nsub go {\n}\n", "A::B go"},
		{"a.r", "f <- function(x) {\n}\n", "f"},
		{"a.tf", "resource \"a\" \"b\" {\n}\n", "a.b"},
		{"Makefile", "all: a\n\tgo build\n", "all"},
		{"a.vim", "function! s:go()\nendfunction\n", "s:go"},
		{"a.swift", "extension A {\n    func go() {\n    }\n}\n", "A A/go"},
		{"a.scala", "object M {\n  def go(x: Int) = 1\n}\n", "M M/go"},
		{"a.proto", "message M {\n}\n", "M"},
	} {
		d := &Document{Type: TypeOf(c.name), Text: []byte(c.code)}
		s := codeScanner{lineReader: lineReader{text: d.Text}, defs: definitions[d.Type], comment: -1}
		s.scan()
		var got []string
		for _, p := range s.places {
			if p.path == nil {
				p.path = []string{"-"}
			}
			got = append(got, strings.Join(p.path, "/"))
		}
		if strings.Join(got, " ") != c.want || !IsCode(d.Type) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Small definitions share a section, comments belong to what is below them, and
// the text of a section is all that was there.
func TestCodeSections(t *testing.T) {
	body := repeat("\tsomething(1, 2, 3)\n", 20)
	code := "package p\n\n// a does.\nfunc a() {\n" + body + "}\n\n// b does.\nfunc b() {\n}\n\nfunc c() {\n" + body + "}\n"
	d := read(t, "a.go", code)
	var got []string
	for _, s := range d.Sections {
		first, _, _ := strings.Cut(code[s.Start:s.End], "\n")
		got = append(got, fmt.Sprint(s.Heading, " ", first, " ", s.HeadingEnd))
	}
	if want := []string{"[a] package p 0", "[b, c] // b does. 0"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestCodeTypes(t *testing.T) {
	for name, want := range map[string]string{
		"Dockerfile": "dockerfile", "CMakeLists.txt": "cmake", "a.H": "h", "a.TS": "ts", "a.md": "", "a.txt": "", "a.json": "", "a.csv": "", "a.tex": "",
	} {
		if got := TypeOf(name); IsCode(got) != (want != "") || want != "" && got != want {
			t.Errorf("%s: %s, code %v", name, got, IsCode(got))
		}
	}
	for line, want := range map[string]string{
		"#!/bin/sh\n": "sh", "#!/usr/bin/env -S python3 -u\n": "py", "#! /usr/bin/perl5\n": "pl", "#!/usr/bin/env FOO=1 node\n": "js", "# no\n": "txt",
	} {
		if d := read(t, "script", line); d.Type != want {
			t.Errorf("%q: %s", line, d.Type)
		}
	}
	if n := len(codeTypes); n < 40 {
		t.Error(n)
	}
}
