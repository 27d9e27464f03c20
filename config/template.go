package config

import "strings"

// Template returns the commented config that `quern init` writes: every key is
// explained and stands at its default, commented out, and each of the folders
// has a table at the end, where AddFolder will append others. Parsed, it is
// Default with these folders.
func Template(folders []Folder) []byte {
	var b strings.Builder
	b.WriteString(templateText)
	for _, f := range folders {
		b.WriteString("\n" + folderTable(f))
	}
	return []byte(b.String())
}

const templateText = `# Quern's configuration. Every key has a default: what is commented out is what
# holds. The daemon reads this file again whenever it changes; a mistake is
# reported by "quern status" and leaves the former configuration in force.

# How files are cut into passages. A change indexes everything anew.
[chunk]
# paragraph: paragraphs, short ones joined, long ones in windows;
# auto: passages that end where paragraphs, lines or sentences do, with an overlap of
# 40 unless it is given; window: windows over the whole text; document: one passage a
# file.
# strategy = "paragraph"
# Paragraphs with fewer words join the next one.
# min_words = 25
# Longer passages are cut into windows of so many words …
# max_words = 120
# … which share so many with their neighbours.
# overlap = 30
# Whether the words of a heading count in the passages below it.
# heading_terms = true

# How text becomes terms. A change indexes everything anew.
[analysis]
# unicode: words of any script, case and width folded; plain: runs of letters
# and digits, lower-cased.
# tokenizer = "unicode"
# Words to leave out: none, short, english, or the path of a list, absolute or
# ~/…, a word a line.
# stopwords = "none"
# Words that share a stem match each other: auto, by the language of each passage;
# none; or one language (english, german, french, …) for all.
# stemmer = "auto"
# Shorter words are dropped.
# min_length = 1
# Whether "café" and "cafe" are the same word (unicode only).
# fold_diacritics = true

# How passages are ranked; a query can ask for another model.
[rank]
# best: BM25, and a closer look at headings, neighbouring words and names in code;
# tfidf: TF-IDF with cosine; bm25: Okapi BM25; hybrid: one of them
# together with vectors, which also find what shares no word with the query. With the
# tokenizer plain, tfidf is the default.
# model = "best"
# tfidf: log counts a word's repetitions as 1 + ln n, raw as n.
# tf = "log"
# bm25 alone: how soon repetitions stop counting, and how much length counts (0 to 1).
# k1 = 0.9
# b = 0.4
# hybrid: the model beside the vectors, and how much their similarity counts.
# lexical = "best"
# weight = 0.15

# What makes the vectors of hybrid ranking.
[embedding]
# lsa: learned from the passages themselves, nothing leaves the machine;
# http: a service, which is sent every passage and query.
# kind = "lsa"
# http: its address (of Ollama, llama.cpp, …) and the name of its model.
# url = ""                      # as "http://127.0.0.1:11434/v1/embeddings"
# model = ""
# A file with the service's key, if it wants one.
# key_file = ""
# What some models want before each text.
# query_prefix = ""
# passage_prefix = ""
# Texts in one request, and how long one may take.
# batch = 32
# timeout = "30s"

# The background process. A change of these keys takes effect when it is started
# again.
[daemon]
# Where it listens; empty: quern/quern.sock in the user's runtime directory.
# socket = ""
# Where the daemon keeps its data and its log; empty: quern in the user's cache
# directory.
# data_dir = ""
# Memory that the index may use for what is not written to disk yet.
# memory_budget = "64MiB"
# Deleted text is gone from the disk after at most so long.
# purge_after = "1h"
# How long a file must be left alone before it is read.
# settle = "50ms"
# Threads for catching up; 0: one for each CPU.
# threads = 0
# On battery power: slow (many changes at half speed), pause or full.
# on_battery = "slow"
# Who is answered: owner, or all users of the machine, each from what that user may
# read (for a daemon that runs as root on Linux).
# users = "owner"

# A format that quern does not read can be read by a command of yours, one table
# each. It gets the file on its standard input and writes the text to its standard
# output; it reaches no network and no other file.
#
#   [[extractor]]
#   type = "djvu"               # how the names of the files end
#   command = ["djvutxt", "-"]

# The folders to watch have a table each, with these keys. Only the path must be
# given; ~ and $VAR in it are expanded ($$ is a dollar sign). A folder may lie
# in another: a file belongs to the innermost one.
#
#   [[folder]]
#   path = "~/notes"
#   name = "notes"              # default: the last element of the path
#   include = ["**"]            # globs of the files to index, relative to the folder
#   exclude = []                # globs to leave out, besides .git, node_modules, caches …
#   gitignore = true            # honour .gitignore, .ignore and .quernignore files
#   hidden = false              # index files whose names begin with a dot
#   follow_symlinks = false
#   max_file_size = "64MiB"     # larger files are skipped
#   poll = "auto"               # auto, never, or an interval as "30s": look for changes
#                               # where the file system does not report them
#   when_absent = "keep"        # keep, hide or drop: what becomes of the passages while
#                               # the folder is unmounted or gone
#   users = []                  # with users = "all" below [daemon]: who may search it,
#   groups = []                 # by name or number; both empty: everybody
`
