package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"quern/index/eval"
	"quern/ipc"
)

// titleWords is how many words of a first line may be a title.
const titleWords = 20

// titles makes a question of every document: its title, which is to find it.
func (s *source) titles(ctx context.Context) (*eval.Set, error) {
	set := &eval.Set{Name: "titles"}
	var err error
	if s.daemon == nil {
		for i := range s.docs {
			set.Questions = appendTitle(set.Questions, s.docs[i].Title, s.docs[i].ID)
		}
	} else {
		for _, root := range s.roots[:len(s.roots)-1] { // the last is no folder
			if err = s.titlesIn(ctx, root, set); err != nil {
				return nil, err
			}
		}
	}
	if len(set.Questions) == 0 {
		return nil, failuref("quern status shows what is indexed", "no document has a title")
	}
	return set, nil
}

func appendTitle(list []eval.Question, title, path string) []eval.Question {
	if title = strings.TrimSpace(title); title == "" {
		return list
	}
	e := eval.Evidence{Path: path, Passage: -1, Grade: 1}
	return append(list, eval.Question{ID: path, Text: title, Evidence: []eval.Evidence{e}})
}

// titlesIn asks for every file of a directory that is indexed. What cannot be
// read is not.
func (s *source) titlesIn(ctx context.Context, root string, set *eval.Set) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && path == root:
			return err
		case err != nil:
			return nil
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		r, err := s.asker.Passages(ctx, ipc.PassagesParams{Path: ipc.EncodePath(path)})
		if errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
			return nil
		}
		if err == nil && len(r.Passages) > 0 {
			set.Questions = appendTitle(set.Questions, titleOf(&r), filepath.ToSlash(path))
		}
		return err
	})
}

// titleOf is a document's title: its own, its first heading, a short first line,
// or its name.
func titleOf(r *ipc.PassagesResult) string {
	first := &r.Passages[0]
	line, _, _ := strings.Cut(strings.TrimSpace(first.Text), "\n")
	switch {
	case r.Title != "":
		return r.Title
	case len(first.Heading) > 0:
		return first.Heading[0]
	case len(strings.Fields(line)) <= titleWords:
		return line
	}
	name := filepath.Base(fromWire(r.Path))
	return strings.TrimSuffix(name, filepath.Ext(name))
}
