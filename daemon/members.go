package daemon

import (
	"fmt"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"quern/index"
	"quern/index/extract"
)

// memberTable knows which documents of the index are members of which file: those
// of an archive, the attachments of a mail. The index says so, by fingerprints; the
// table finds them without a walk over all documents.
type memberTable struct {
	mu sync.Mutex // guards of
	of map[string][]string
}

// reset makes the table empty, for add.
func (t *memberTable) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of = map[string][]string{}
}

// add takes over a member that an index has.
func (t *memberTable) add(file, member string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of[file] = append(t.of[file], member)
}

// get returns the members of a file in the index.
func (t *memberTable) get(file string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[file]
}

func (t *memberTable) has(file string) bool { return len(t.get(file)) > 0 }

// set records the members that a file has now.
func (t *memberTable) set(file string, members []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(members) == 0 {
		delete(t.of, file)
		return
	}
	t.of[file] = members
}

// all reports whether the index has the members that the file is to have.
func (t *memberTable) all(snapshot *index.Snapshot, file string, want int) bool {
	members := t.get(file)
	return len(members) == want && !slices.ContainsFunc(members, func(path string) bool {
		_, ok := snapshot.Document(path)
		return !ok
	})
}

// outcome is what one change of the watcher comes to: changes of the index, and the
// members that the file has once those are applied.
type outcome struct {
	file    string
	changes []index.Change
	members []string
}

// remove is the outcome for a file that has nothing in the index.
func (p *pipeline) remove(file string) outcome {
	out := outcome{file: file, changes: []index.Change{{Remove: file}}}
	out.drop(p.members.get(file))
	return out
}

// put is the outcome for a file that was read as doc, with the fingerprint note.
func (p *pipeline) put(f *folder, doc *index.Document, note fingerprint) outcome {
	out := outcome{file: doc.Path}
	note.rules = f.memberRules()
	out.addMembers(f, doc, doc.Content, note)
	note.members = len(out.members)
	doc.Fingerprint = note.String()
	out.changes = append(out.changes, index.Change{Put: doc})
	slices.Sort(out.members)
	out.drop(p.members.get(doc.Path))
	return out
}

// drop removes those of the members before that are none any more; o's are sorted.
func (o *outcome) drop(members []string) {
	for _, path := range members {
		if _, kept := slices.BinarySearch(o.members, path); !kept {
			o.changes = append(o.changes, index.Change{Remove: path})
		}
	}
}

// addMembers adds the members of content, a part of the file's, which stands at the
// path of at, as documents.
func (o *outcome) addMembers(f *folder, at *index.Document, content *extract.Document, note fingerprint) {
	note.owner, note.members = len(o.file), 0
	for _, m := range content.Members {
		if m.Document == nil {
			continue
		}
		doc := *at
		doc.Path, doc.Rel, doc.Content = at.Path+memberMark+m.Name, at.Rel+memberMark+m.Name, m.Document
		doc.Size = int64(len(m.Document.Text))
		doc.Fingerprint = note.String()
		if f.filter.Member(doc.Rel) == "" {
			o.changes = append(o.changes, index.Change{Put: &doc})
			o.members = append(o.members, doc.Path)
			o.addMembers(f, &doc, m.Document, note)
		}
	}
	content.Members = nil // the index keeps none
}

// memberRules tells apart the rules by which members of the folder's files are
// chosen. It is asked for each file of a restart.
func (f *folder) memberRules() uint32 {
	f.rulesOnce.Do(func() { f.rulesHash = uint32(xxh3.HashString(fmt.Sprintf("%q %v", f.Exclude, f.Hidden))) })
	return f.rulesHash
}

// hasMembers reports whether members of a document are in the index.
func (c *core) hasMembers(doc *index.DocumentInfo) bool {
	note, _ := parseFingerprint(doc.Fingerprint)
	return note.members > 0
}
