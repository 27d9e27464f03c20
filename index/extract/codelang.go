package extract

import (
	"regexp"
	"strings"
)

// pattern is how the first line of a definition looks, behind its indent; what is in
// brackets is its name. top says that it must not be indented.
type pattern struct {
	*regexp.Regexp
	top bool
}

// Modifiers that stand before what is defined.
const (
	modifiers = `(?:(?:public|private|protected|internal|fileprivate|static|final|abstract|sealed|open|data|partial|override|async|export|default|case|inner|companion|readonly|virtual|extern|unsafe|suspend|inline|operator|infix|mutating|indirect|strictfp|native|synchronized|implicit|lazy|declare|const|annotation|external|expect|actual|ref|required|convenience)\s+)`
	classes   = `^` + modifiers + `*(?:class|interface|enum class|enum|record|struct|object|trait|protocol|extension|namespace|@interface|actor|mixin|func|fun|def|function|typealias)\s+&?([\w.$]+)`
	methods   = `^` + modifiers + `+[\w<>\[\],.?\s]*?\b(\w+)\s*\([^;]*$`
)

// families are the languages, by their types, with what their definitions look like:
// behind a ^ that is followed by another, only where the line is not indented.
var families = []struct{ types, patterns string }{
	{"go", "^^func\\s+(?:\\(\\s*\\w*\\s*\\*?(\\w+)[^)]*\\)\\s*)?(\\w+)\n^^(?:type|var|const)\\s+(\\w+)"},
	{"py pyw pyi pyx sage bzl star", `^(?:async\s+)?(?:def|class|cdef class|cpdef)\s+(\w+)`},
	{"c h cc cpp cxx c++ hh hpp hxx h++ inl ipp cu cuh ino glsl hlsl frag vert metal idl", `^^(?:typedef\s+)?(?:struct|class|union|enum\s+class|enum|namespace)\s+(?:[A-Z_]+\s+)?(\w+)[^;()]*$
^^(?:[\w:*&<>,~\[\]]+[\s*&]+)+((?:\w+::)*(?:~?\w+|operator\s*\S+))\s*\([^;]*$
^^((?:\w+::)+~?\w+)\s*\([^;]*$`},
	{"m mm", `^^[-+]\s*\([^)]*\)\s*(\w+)
^^@(?:interface|implementation|protocol)\s+(\w+)
^function\s+(?:[^=(]*=\s*)?(\w+)
^classdef\s+(\w+)`},
	{"java kt kts scala sc groovy gradle dart swift cs csx php phtml php3 php5 vala hx as jsh", classes + "\n" + methods},
	{"js mjs cjs jsx ts mts cts tsx vue svelte astro coffee", `^(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)
^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:class|interface|enum|namespace|module|type)\s+([\w$]+)
^^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>|class\b)
^(?:(?:public|private|protected|static|async|get|set|readonly|override)\s+)*[*#]?([\w$]+)\s*\([^)]*\)\s*(?::[^{]+)?\{\s*$`},
	{"rs", `^(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern|extern\s+"[^"]*")\s+)*(?:fn|struct|enum|trait|union|mod|type|macro_rules!)\s+(\w+)
^(?:unsafe\s+)?impl(?:<[^>]*>)?\s+([^{]+?)\s*(?:where\b.*)?\{?\s*$`},
	{"rb rake gemspec cr ru podspec", `^(?:private\s+)?(?:class|module|def|struct)\s+(?:self\.)?([\w:.?!]+)`},
	{"ex exs", `^(?:defmodule|defp?|defmacrop?|defprotocol|defimpl|defstruct)\s+([\w.?!]+)`},
	{"erl hrl", `^^([a-z]\w*)\(.*->
^^-(?:module|record)\((\w+)`},
	{"pl pm t psgi raku", `^(?:sub|package|class|method)\s+([\w:]+)`},
	{"lua", "^(?:local\\s+)?function\\s+([\\w.:]+)\n^^(?:local\\s+)?([\\w.]+)\\s*=\\s*function\\b"},
	{"sh bash zsh ksh dash fish bats ebuild command", `^^(?:function\s+)?([\w:.-]+)\s*\(\s*\)
^^function\s+([\w:.-]+)`},
	{"sql psql ddl plsql pks pkb", "(?i)^create\\s+(?:or\\s+replace\\s+)?(?:(?:temp|temporary|unique|materialized|global|external)\\s+)*(?:table|view|function|procedure|index|trigger|type|schema|sequence|database|package(?:\\s+body)?)\\s+(?:if\\s+not\\s+exists\\s+)?([\\w.\"`\\[\\]]+)"},
	{"hs lhs purs elm", "^^(\\w[\\w']*)\\s*::\n^^(?:data|newtype|class|instance|type|module)\\s+(?:alias\\s+)?([^={]*?)\\s*(?:=|where|$)"},
	{"ml mli fs fsi fsx sml", `^^(?:let(?:\s+rec)?|and|type|module|val|exception|class)\s+(?:rec\s+)?([\w']+)`},
	{"clj cljs cljc edn lisp lsp cl el scm ss rkt fnl", `^^\(def[^\s()]*\s+\(?([^\s()]+)`},
	{"r", `^^([\w.]+)\s*(?:<-|=)\s*function`},
	{"jl", `^(?:function|struct|mutable\s+struct|module|macro|abstract\s+type)\s+([\w.!]+)`},
	{"zig", `^(?:pub\s+)?(?:export\s+)?(?:inline\s+)?(?:fn|const)\s+(\w+)`},
	{"nim nims", `^^(?:proc|func|method|template|macro|iterator|type)\s+(\w+)`},
	{"d", classes + "\n" + methods},
	{"pas pp dpr lpr inc", `(?i)^^(?:procedure|function|constructor|destructor|unit|program|library)\s+([\w.]+)`},
	{"f f77 f90 f95 f03 f08 for", `(?i)^(?:[\w()*=, ]+\s)?(?:subroutine|function|module|program)\s+(\w+)`},
	{"adb ads vhd vhdl", `(?i)^(?:package\s+body|package|procedure|function|entity|architecture|task)\s+(\w+)`},
	{"v sv svh", `^(?:module|interface|package|class|task|function(?:\s+automatic)?(?:\s+\w+)?|(?:pub\s+)?fn|struct)\s+(\w+)`},
	{"vb bas vbs frm", `(?i)^(?:(?:public|private|friend|shared|static)\s+)*(?:sub|function|class|module|property\s+(?:get|let|set))\s+(\w+)`},
	{"ps1 psm1 psd1", `(?i)^(?:function|filter|class|enum)\s+([\w:-]+)`},
	{"bat cmd", `^^:(\w+)`},
	{"tcl tk exp", `^(?:proc|namespace\s+eval|oo::class\s+create)\s+(\S+)`},
	{"vim", `^fu(?:nction)?!?\s+([\w:#.]+)`},
	{"awk gawk", `^^function\s+(\w+)`},
	{"makefile mk mak gmk", `^^([\w./%$(){}-]+)\s*:(?:[^=]|$)`},
	{"cmake", `(?i)^(?:function|macro)\s*\(\s*(\w+)`},
	{"tf tfvars hcl", `^^(?:resource|module|variable|output|data|provider)\s+"([^"]+)"(?:\s+"([^"]+)")?`},
	{"proto thrift graphql gql capnp", `^(?:message|service|enum|rpc|type|interface|input|struct|union|exception)\s+(\w+)`},
	{"sol", `^(?:contract|library|interface|function|struct|event|modifier|enum|abstract contract)\s+(\w+)`},
	{"asm s nasm", `^^([A-Za-z_.$][\w.$]*):`},
	{"pro prolog", `^^([a-z]\w*)\(.*:-`},
	{"cob cbl cobol", `(?i)^\s*([\w-]+)\s+(?:division|section)\.`},
	// These have no definitions that are worth a name.
	{"css scss sass less styl dockerfile nix erb ejs hbs mustache tmpl tpl jinja j2 twig haml pug jade slim dts dtsi gd qml ui", ""},
	{"y l yy lex g4 ebnf bnf asp aspx jsp ahk au3 applescript xsl xslt xsd wsdl csproj vcxproj sln gn gni bazel bzl diff patch", ""},
}

// codeTypes are the types of source code, and definitions how it defines.
var (
	codeTypes   = map[string]bool{}
	definitions = map[string][]pattern{}
)

func init() {
	for _, f := range families {
		var defs []pattern
		for _, p := range strings.Split(f.patterns, "\n") {
			if p = strings.TrimSpace(p); p != "" {
				top := strings.Contains(p, "^^")
				defs = append(defs, pattern{regexp.MustCompile(strings.Replace(p, "^^", "^", 1)), top})
			}
		}
		for _, t := range strings.Fields(f.types) {
			codeTypes[t] = true
			if defs != nil {
				definitions[t] = defs
				parsers[t] = parseCode
			}
		}
	}
}

// fileNames are the types of files that are known by their names, in lower case.
var fileNames = map[string]string{
	"makefile": "makefile", "gnumakefile": "makefile", "dockerfile": "dockerfile", "containerfile": "dockerfile", "cmakelists.txt": "cmake",
	"rakefile": "rb", "gemfile": "rb", "vagrantfile": "rb", "guardfile": "rb", "podfile": "rb", "fastfile": "rb", "brewfile": "rb",
	"jenkinsfile": "groovy", "build.bazel": "bzl", "sconstruct": "py", "sconscript": "py", "wscript": "py",
	"configure": "sh", "pkgbuild": "sh", "apkbuild": "sh", "meson.build": "meson", "justfile": "just",
}

// interpreters are the types of scripts by the programs that run them.
var interpreters = map[string]string{
	"sh": "sh", "bash": "sh", "dash": "sh", "zsh": "sh", "ksh": "sh", "ash": "sh", "fish": "fish", "python": "py", "pypy": "py", "perl": "pl",
	"ruby": "rb", "node": "js", "deno": "ts", "bun": "ts", "lua": "lua", "luajit": "lua", "php": "php", "rscript": "r", "awk": "awk", "gawk": "awk",
	"mawk": "awk", "tclsh": "tcl", "wish": "tcl", "expect": "exp", "groovy": "groovy", "julia": "jl", "make": "makefile", "guile": "scm",
	"racket": "rkt", "sbcl": "lisp", "runhaskell": "hs", "ocaml": "ml", "osascript": "applescript", "pwsh": "ps1", "elixir": "ex", "escript": "erl",
}

var shebang = regexp.MustCompile(`^#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?(?:\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z]+)`)

// scriptType returns the type of a script by the line that names its interpreter,
// or "".
func scriptType(data []byte) string {
	if m := shebang.FindSubmatch(data[:min(len(data), 256)]); m != nil {
		return interpreters[strings.ToLower(string(m[1]))]
	}
	return ""
}
