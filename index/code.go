package index

import "strings"

// codeTypes are the types of documents that are program code: there, the parts
// of names are terms, too.
var codeTypes = func() map[string]bool {
	set := map[string]bool{}
	for _, t := range strings.Fields(`ada as asm awk bas bash bat c cc cjs clj cljc cljs cmake coffee cpp cr cs css cu cuh cxx
		d dart el elm erl ex exs f f90 f95 for fs fsi fsx gd glsl go gradle graphql groovy h hcl hh hlsl hpp hrl hs hxx
		ipynb java jl js json jsonc jsx kt kts less lisp lua m mjs ml mli mm nim nix pas php pl pm proto ps1 psm1 py pyi pyx
		r rake rb rkt rs s sass sc scala scm scss sh sol sql svelte swift tcl tf tfvars toml ts tsx v vala vb vhd vhdl vim vue
		wgsl xsl xslt yaml yml zig zsh`) {
		set[t] = true
	}
	return set
}()

func isCode(kind string) bool { return codeTypes[kind] }
