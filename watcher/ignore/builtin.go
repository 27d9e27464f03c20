package ignore

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kind says why the built-in list names something.
type kind string

const (
	versionControl kind = "version control"
	dependencies   kind = "dependency folder"
	buildOutput    kind = "build folder"
	cache          kind = "cache"
	trash          kind = "trash"
	system         kind = "kept by the system"
	editorFile     kind = "editor's swap, backup, autosave or lock file"
	partial        kind = "partial download"
	secret         kind = "secret"
)

// builtin is one entry of the built-in list. Names are matched without regard
// to ASCII case.
type builtin struct {
	pattern string // a name or a wildcard pattern for names; "" for a marked directory
	kind    kind
}

// marked is a directory that is one of the list only when a marker says so.
type marked struct {
	name   string   // path.Match pattern for the directory's name
	inside []string // any of these in it, or
	beside []string // any of these beside it
	entry  *builtin
}

// directories that are excluded by name alone.
var directories = map[kind]string{
	versionControl: ".git .hg .svn .jj .bzr _darcs .pijul CVS RCS SCCS .sl .fslckout .repo",
	dependencies: "node_modules bower_components jspm_packages .venv .virtualenv .bundle .pnpm-store .yarn " +
		"__pypackages__ site-packages .eggs .cargo .rustup .stack-work .nuget elm-stuff .dart_tool .pub-cache .m2 .ivy2 .npm .opam",
	buildOutput: "__pycache__ .gradle .next .nuxt .svelte-kit .output .parcel-cache .turbo .angular .terraform " +
		".vagrant .serverless dist-newstyle DerivedData .bloop .metals .ipynb_checkpoints *.egg-info",
	cache: ".cache .ccache .sass-cache .mypy_cache .pytest_cache .ruff_cache .tox .nox .hypothesis .npm-cache " +
		".eslintcache .nyc_output .thumbnails .dedup .tmp.driveupload .tmp.drivedownload",
	trash:  ".Trash .Trash-* .Trashes $RECYCLE.BIN .stversions",
	system: "lost+found .snapshots .zfs .Spotlight-V100 .fseventsd .TemporaryItems .DocumentRevisions-V100 .stfolder .dbus .gvfs",
	secret: ".ssh .gnupg .password-store .aws .azure .kube .docker .oci .gcloud gcloud .sops .mozilla " +
		"keyrings kwalletd *.agilekeychain *.opvault *.keychain 1Password",
	partial: "*.download *.crdownload",
}

// files that are excluded by name alone. (With a file named 4913 vim tries
// whether it may write in a directory.)
var files = map[kind]string{
	editorFile: "*.swp *.swo *.swn .*.sw? *~ .#* #*# .~lock.*# ~$* 4913 *.bak *.kate-swp .goutputstream-* *.tmp *.temp " +
		".nfs* .fuse_hidden* __psviminfo .*.un~ *.autosave *.asv",
	partial: "*.part *.partial *.crdownload *.opdownload *.aria2 *.!ut *.filepart",
	system:  ".DS_Store Thumbs.db ehthumbs.db desktop.ini .directory .localized ._*",
	secret: "*.pem *.key *.p12 *.pfx *.ppk *.pk8 *.jks *.keystore *.kdbx *.kdb *.psafe3 *.keychain *.keychain-db *.keyring *.kwl " +
		"id_rsa* id_dsa* id_ecdsa* id_ed25519* id_xmss* *.ovpn secring.* " +
		".env .env.* *.env .envrc .netrc _netrc .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials .npmrc .pypirc " +
		".htpasswd .dockercfg .dockerconfigjson .boto .s3cfg .vault-token .terraformrc *.tfstate *.tfstate.backup " +
		".authinfo .authinfo.gpg .msmtprc .fetchmailrc .smbcredentials .rclone.conf rclone.conf kubeconfig " +
		"credentials credentials.json credentials.toml client_secret*.json application_default_credentials.json " +
		"*serviceaccount*.json *service-account*.json *service_account*.json " +
		"logins.json key3.db key4.db signons.sqlite cookies.sqlite wallet.dat .*_history",
}

// markedDirectories are excluded when their content or their neighbours say
// what they are. "vendor" and "target" are common names of folders that people
// write in, so the name alone does not do.
var markedDirectories = []marked{
	{name: "vendor", inside: []string{"modules.txt", "autoload.php"}, entry: &builtin{kind: dependencies}},
	{name: "*env*", inside: []string{"pyvenv.cfg"}, entry: &builtin{kind: dependencies}},
	{name: "target", beside: []string{"Cargo.toml", "pom.xml", "build.sbt", "project.clj"}, entry: &builtin{kind: buildOutput}},
	{name: "build", beside: []string{"build.gradle", "build.gradle.kts", "pubspec.yaml"}, entry: &builtin{kind: buildOutput}},
	{name: "*build*", inside: []string{"CMakeCache.txt", "build.ninja"}, entry: &builtin{kind: buildOutput}},
}

// byCacheTag is a directory that declares itself a cache.
var byCacheTag = &builtin{pattern: cacheTag, kind: cache}

const (
	cacheTag       = "CACHEDIR.TAG"
	cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55" // bford.info/cachedir
)

// nameTable finds the entry for a name without trying every pattern.
type nameTable struct {
	exact  map[string]*builtin
	suffix map[string]*builtin // "*.ext", by what follows the last dot
	rest   []wildName
}

// wildName is an entry with its compiled pattern.
type wildName struct {
	*builtin
	toks []token
}

// matches looks at the first and last byte before it matches in earnest.
func (w *wildName) matches(low string) bool {
	first, last := &w.toks[0], &w.toks[len(w.toks)-1]
	if low == "" || first.op == opByte && first.b != low[0] || last.op == opByte && last.b != low[len(low)-1] {
		return false
	}
	return match(w.toks, low)
}

var dirTable, fileTable = newTable(directories), newTable(files)

func newTable(lists map[kind]string) *nameTable {
	t := &nameTable{exact: map[string]*builtin{}, suffix: map[string]*builtin{}}
	for _, k := range slices.Sorted(maps.Keys(lists)) {
		for _, p := range strings.Fields(lists[k]) {
			t.add(&builtin{pattern: p, kind: k})
		}
	}
	return t
}

func (t *nameTable) add(b *builtin) {
	low := strings.ToLower(b.pattern)
	ext, isSuffix := strings.CutPrefix(low, "*.")
	switch {
	case !strings.ContainsAny(low, "*?["):
		t.exact[low] = b
	case isSuffix && !strings.ContainsAny(ext, "*?[."):
		t.suffix[ext] = b
	default:
		toks, _ := compile(low, false, false)
		t.rest = append(t.rest, wildName{b, toks})
	}
}

// find returns the entry for a name, a secret before any other, or nil.
func (t *nameTable) find(name string) *builtin {
	low := strings.ToLower(name)
	found := t.exact[low]
	if found == nil || found.kind != secret {
		if i := strings.LastIndexByte(low, '.'); i >= 0 {
			found = weightier(found, t.suffix[low[i+1:]])
		}
	}
	for i := range t.rest {
		w := &t.rest[i]
		if found != nil && (found.kind == secret || w.kind != secret) {
			continue
		}
		if w.matches(low) && !isTemplate(w.builtin, low) {
			found = w.builtin
		}
	}
	return found
}

func weightier(a, b *builtin) *builtin {
	if a == nil || b != nil && b.kind == secret {
		return b
	}
	return a
}

// isTemplate reports that a file of environment variables is one to copy and
// fill in, which holds no secret.
func isTemplate(b *builtin, low string) bool {
	if b.pattern != ".env.*" {
		return false
	}
	switch low[len(".env."):] {
	case "example", "sample", "template", "dist", "defaults":
		return true
	}
	return false
}

// marker returns the entry for a directory whose content or neighbours say that
// nothing in it was written by its owner, or nil. parent and name say where it is.
func (s sight) marker(parent, name string) *builtin {
	dir := filepath.Join(parent, name)
	if head, _ := s.readRegular(filepath.Join(dir, cacheTag), int64(len(cacheSignature)), false); string(head) == cacheSignature {
		return byCacheTag
	}
	for i := range markedDirectories {
		m := &markedDirectories[i]
		if ok, _ := path.Match(m.name, name); ok && (s.anyIn(dir, m.inside) || s.anyIn(parent, m.beside)) {
			return m.entry
		}
	}
	return nil
}

func (s sight) anyIn(dir string, names []string) bool {
	for _, n := range names {
		if _, err := s.stat(filepath.Join(dir, n), false); err == nil {
			return true
		}
	}
	return false
}

// isMarker reports whether a file called name in a directory called dir can be
// what marks that directory or one beside the file.
func isMarker(dir, name string) bool {
	if name == cacheTag {
		return true
	}
	for i := range markedDirectories {
		m := &markedDirectories[i]
		if slices.Contains(m.beside, name) {
			return true
		}
		if ok, _ := path.Match(m.name, dir); ok && slices.Contains(m.inside, name) {
			return true
		}
	}
	return false
}

// reason is what the user is told.
func (b *builtin) reason() string {
	switch {
	case b.kind == secret:
		return "looks like a secret (built-in " + b.pattern + "); name it in include to index it"
	case b == byCacheTag:
		return "built-in: cache (it has a " + cacheTag + ")"
	}
	return "built-in: " + string(b.kind)
}
