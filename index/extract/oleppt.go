package extract

import "strings"

// Records of PowerPoint documents: MS-PPT 2.13.24.
const (
	pptSlideAtom       = 0x03ef
	pptSlidePersist    = 0x03f3
	pptOutlineRef      = 0x0f9e
	pptTextHeader      = 0x0f9f
	pptTextChars       = 0x0fa0
	pptTextBytes       = 0x0fa8
	pptCString         = 0x0fba
	pptHeadersFooters  = 0x0fd9
	pptSlideList       = 0x0ff0
	pptUserEdit        = 0x0ff5
	pptPersistTable    = 0x1772
	pptComment         = 0x2ee0
	pptEncryptedMarker = 0xf3d1c4df
)

// maxPPTSlides bounds the slides of a presentation, and the texts of a slide.
const maxPPTSlides = 50_000

// pptFile reads a presentation of PowerPoint 97 to 2003.
type pptFile struct {
	d       *Document
	b       *textBuilder
	data    leReader
	persist map[uint32]int // where the newest form of each object is
	slides  []pptSlide
	notes   map[uint32]uint32 // objects of notes by their id
	trailer []string
}

// pptSlide is a slide: its object and its texts in the outline.
type pptSlide struct {
	object uint32
	texts  []pptText
}

// pptText is a text and its kind: 0 and 6 are titles.
type pptText struct {
	kind uint32
	text string
}

// pptRecord is a record, its body and where it ends.
type pptRecord struct {
	kind, instance int
	container      bool
	body           leReader
	at             int // of the body
}

func parsePPT(d *Document, f *oleFile) error {
	data, err := f.stream("PowerPoint Document")
	if err != nil {
		return err
	}
	user, err := f.stream("Current User")
	if err != nil {
		return err
	}
	t := &pptFile{d: d, b: newTextBuilder(d), data: data, persist: map[uint32]int{}, notes: map[uint32]uint32{}}
	if user.u32(12) == pptEncryptedMarker {
		return notText("encrypted: it needs a password")
	}
	if document, ok := t.readEdits(int(user.u32(16))); ok {
		t.readDocument(document)
	}
	if t.b.err != nil {
		return t.b.err
	}
	for i, s := range t.slides {
		t.slide(i+1, s)
	}
	if len(t.slides) == 0 {
		t.all()
	}
	props := f.properties()
	props.apply(d)
	t.b.closing(append(t.trailer, props.more...))
	if len(t.b.text) == 0 && len(t.persist) == 0 {
		return notText("corrupt: its presentation has no slides")
	}
	return t.b.finish(nil)
}

// record reads the header of a record.
func (t *pptFile) record(at int) (pptRecord, bool) {
	if at < 0 || at+8 > len(t.data) {
		return pptRecord{}, false
	}
	head := t.data.u16(at)
	n := min(int(t.data.u32(at+4)), len(t.data)-at-8)
	return pptRecord{int(t.data.u16(at + 2)), int(head >> 4), head&15 == 15, t.data[at+8 : at+8+n], at + 8}, true
}

// each goes through the records within one, those of its containers too, in order.
func (t *pptFile) each(at int, f func(pptRecord)) {
	root, ok := t.record(at)
	if !ok {
		return
	}
	if t.b.err = t.d.budget.inflate(int64(len(root.body))); t.b.err != nil {
		return
	}
	end := root.at + len(root.body)
	for pos := root.at; pos+8 <= end && !t.b.full(); {
		r, ok := t.record(pos)
		if !ok {
			return
		}
		f(r)
		pos = r.at
		if !r.container {
			pos += len(r.body)
		}
	}
}

// readEdits follows the edits of the file, from the newest to the first, and finds
// the objects that they left. It returns where the document is.
func (t *pptFile) readEdits(at int) (int, bool) {
	var document uint32
	for n := 0; n < maxPPTSlides; n++ {
		r, ok := t.record(at)
		if !ok || r.kind != pptUserEdit {
			break
		}
		if n == 0 {
			document = r.body.u32(16)
		}
		t.readPersist(int(r.body.u32(12)))
		previous := int(r.body.u32(8))
		if previous == 0 || previous >= at {
			break
		}
		at = previous
	}
	where, ok := t.persist[document]
	return where, ok
}

// readPersist reads a table of objects: runs of places, each after its first number
// and its length.
func (t *pptFile) readPersist(at int) {
	r, ok := t.record(at)
	if !ok || r.kind != pptPersistTable || t.d.budget.inflate(int64(len(r.body))) != nil {
		return
	}
	for off := 0; off+4 <= len(r.body); {
		head := r.body.u32(off)
		off += 4
		for i := uint32(0); i < head>>20 && off+4 <= len(r.body); i++ {
			id := head&0xfffff + i
			if _, ok := t.persist[id]; !ok {
				t.persist[id] = int(r.body.u32(off))
			}
			off += 4
		}
	}
}

// readDocument reads the lists of slides and of notes, and the outline's texts.
func (t *pptFile) readDocument(at int) {
	list, kind := -1, uint32(0)
	t.each(at, func(r pptRecord) {
		switch r.kind {
		case pptSlideList:
			list = r.instance
		case pptSlidePersist:
			t.listed(list, r.body)
		case pptTextHeader:
			kind = r.body.u32(0)
		case pptTextChars, pptTextBytes:
			if n := len(t.slides); list == 0 && n > 0 && len(r.body) > 0 {
				t.slides[n-1].texts = append(t.slides[n-1].texts, pptText{kind, pptString(r)})
			}
		case pptCString:
			if list < 0 && r.instance == 2 {
				t.trailer = append(t.trailer, pptString(r))
			}
		default:
			if r.container && list >= 0 {
				list = -1
			}
		}
	})
}

// listed takes an entry of a list of slides, 0, or of notes, 2.
func (t *pptFile) listed(list int, r leReader) {
	switch {
	case list == 0 && len(t.slides) < maxPPTSlides:
		t.slides = append(t.slides, pptSlide{object: r.u32(0)})
	case list == 2 && len(t.notes) < maxPPTSlides:
		t.notes[r.u32(12)] = r.u32(0)
	}
}

// pptLines are the ends of paragraphs and of lines.
var pptLines = strings.NewReplacer("\r", "\n", "\v", "\n")

// pptString is the text of an atom.
func pptString(r pptRecord) string {
	text := ""
	if r.kind == pptTextBytes {
		text = latin1(r.body)
	} else {
		text = utf16LE(r.body)
	}
	return pptLines.Replace(text)
}

// slide adds a slide: its title, its texts, its notes.
func (t *pptFile) slide(n int, s pptSlide) {
	own, notes := t.texts(s.object)
	texts := append(s.texts, own...)
	t.b.startPage(n)
	for i, x := range texts {
		if isPPTTitle(x) {
			t.b.heading(1, x.text)
			texts = append(texts[:i:i], texts[i+1:]...)
			break
		}
	}
	for _, x := range texts {
		t.addText(x)
	}
	if object, ok := t.notes[notes]; ok && notes != 0 {
		texts, _ := t.texts(object)
		t.b.sep(sepBlank)
		for _, x := range texts {
			t.addText(x)
		}
	}
}

func isPPTTitle(x pptText) bool {
	return (x.kind == 0 || x.kind == 6) && strings.TrimSpace(x.text) != ""
}

// addText adds a text; a star is the place of a number.
func (t *pptFile) addText(x pptText) {
	if text := strings.TrimSpace(x.text); text != "*" {
		t.b.addLine(text)
	}
}

// texts are those in the shapes of a slide or of notes and the comments on it, and
// the id of its notes.
func (t *pptFile) texts(object uint32) (texts []pptText, notes uint32) {
	at, ok := t.persist[object]
	if !ok {
		return nil, 0
	}
	kind, parent := uint32(4), 0
	t.each(at, func(r pptRecord) {
		if r.container {
			parent = r.kind
		}
		switch r.kind {
		case pptSlideAtom:
			notes = r.body.u32(16)
		case pptTextHeader:
			kind = r.body.u32(0)
		case pptTextChars, pptTextBytes:
			if len(texts) < maxPPTSlides && len(r.body) > 0 {
				texts = append(texts, pptText{kind, pptString(r)})
			}
		case pptCString:
			if parent == pptComment && r.instance == 1 || parent == pptHeadersFooters && r.instance == 2 {
				texts = append(texts, pptText{4, pptString(r)})
			}
		}
	})
	return texts, notes
}

// all adds all texts of a presentation whose list of slides is not to be found.
func (t *pptFile) all() {
	for at := 0; at+8 <= len(t.data) && !t.b.full(); {
		r, _ := t.record(at)
		if r.kind == pptTextChars || r.kind == pptTextBytes {
			t.addText(pptText{text: pptString(r)})
		}
		at = r.at
		if !r.container {
			at += len(r.body)
		}
	}
}
