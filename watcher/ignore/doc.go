// Package ignore decides what of a folder is indexed, before anything below it
// is watched or read.
//
// A path is indexed when all of this holds, for itself and for every directory
// above it inside the folder:
//
//  1. no exclude glob of the folder matches it;
//  2. an include glob of the folder matches it (a directory: could match
//     something below it);
//  3. the built-in list does not name it: version control, dependency, build
//     and cache folders, editors' swap, backup, autosave and lock files, partial
//     downloads, trash, and what looks like a secret. An include glob that names
//     it literally lifts this: an element without wildcards ("server.pem",
//     "node_modules"), or one that repeats the built-in pattern ("*.pem");
//  4. it is not hidden (its name does not begin with a dot), unless Options.Hidden
//     is set or an include glob writes the dot itself (".github/**");
//  5. no rule file ignores it (Options.Gitignore).
//
// # Rule files
//
// Rule files have the syntax and meaning of gitignore(5), byte for byte as git
// reads them: the last matching line of a file decides, a deeper file is asked
// before a shallower one, and what lies in an ignored directory cannot be
// re-included. The kinds are asked in this order, and the first that has an
// opinion decides:
//
//	.quernignore        in any directory of the folder
//	.ignore             in any directory of the folder
//	.gitignore          from the file's directory up to the top of its git repository
//	.git/info/exclude   of that repository
//	the global file     core.excludesFile of the user's git config, or $XDG_CONFIG_HOME/git/ignore
//
// A directory inside the folder that is itself the top of a git repository is
// judged by the rules around it; what lies in it is not: there only its own
// .gitignore files count, as for git. Where the folder lies inside a repository,
// the .gitignore files between the repository's top and the folder count as
// well, unless they ignore the folder itself: it was named by its owner, so a
// repository that takes no interest in it has no say. Without any repository
// .gitignore files are honoured all the same.
//
// Not read: core.excludesFile in a repository's own config or by an include in
// the user's, and core.ignoreCase (names are matched without regard to ASCII
// case on macOS and Windows, exactly elsewhere).
package ignore
