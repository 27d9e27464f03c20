package extract

import "strings"

// oleMagic begins a compound file.
const oleMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// Marks of sectors that are none: MS-CFB 2.1.
const (
	oleMaxSector = 0xfffffffa
	oleNoEntry   = 0xffffffff
)

// maxOLEEntries bounds the directory of a compound file.
const maxOLEEntries = 50_000

// oleFile is a compound file: streams in a tree of storages, laid out in sectors
// as a file system is.
type oleFile struct {
	data    leReader
	shift   uint     // of the size of a sector
	fat     []uint32 // the sector after each
	mini    []uint32 // the small sector after each
	small   []byte   // the stream of small sectors
	cutoff  uint32   // streams below this size are in small sectors
	entries []oleEntry
	paths   map[string]int // entries by their path in lower case
	b       *budget
}

type oleEntry struct {
	name               string
	kind               byte // 1 storage, 2 stream, 5 root
	left, right, child uint32
	start              uint32
	size               uint64
}

// openOLE reads the tables of a compound file. What is damaged in them cuts streams
// short.
func openOLE(d *Document) (*oleFile, error) {
	f := &oleFile{data: d.Text, b: d.budget, paths: map[string]int{}}
	f.shift = uint(f.data.u16(30))
	if len(d.Text) < 512 || f.shift != 9 && f.shift != 12 {
		return nil, notText("corrupt: its compound file is cut off or has no sectors")
	}
	f.cutoff = f.data.u32(56)
	f.readFAT()
	directory, err := f.chain(f.data.u32(48), uint64(len(d.Text)))
	if err != nil {
		return nil, err
	}
	f.readDirectory(directory)
	if len(f.entries) == 0 {
		return nil, notText("corrupt: its compound file has no directory")
	}
	root := f.entries[0]
	miniFAT, err := f.chain(f.data.u32(60), uint64(len(d.Text)))
	if err == nil {
		f.mini = words(miniFAT)
		f.small, err = f.chain(root.start, root.size)
	}
	f.walk()
	return f, err
}

// sector is the content of a sector, or nil.
func (f *oleFile) sector(n uint32) []byte {
	if n >= oleMaxSector {
		return nil
	}
	start := (uint64(n) + 1) << f.shift
	if start >= uint64(len(f.data)) {
		return nil
	}
	return f.data[start:min(start+1<<f.shift, uint64(len(f.data)))]
}

// readFAT reads the table of sectors: the sectors in which it lies are listed in
// the header and, for large files, in a chain of sectors of its own.
func (f *oleFile) readFAT() {
	for i := range 109 {
		f.fat = append(f.fat, words(f.sector(f.data.u32(76+4*i)))...)
	}
	next, sectors := f.data.u32(68), len(f.data)>>f.shift
	for i := 0; i <= sectors && len(f.fat) <= sectors; i++ {
		list := words(f.sector(next))
		if len(list) == 0 {
			return
		}
		for _, n := range list[:len(list)-1] {
			f.fat = append(f.fat, words(f.sector(n))...)
		}
		next = list[len(list)-1]
	}
}

func words(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = leReader(b).u32(4 * i)
	}
	return w
}

// chain is the content of a chain of sectors, of at most size bytes; a loop ends
// with the file's size.
func (f *oleFile) chain(n uint32, size uint64) ([]byte, error) {
	size = min(size, uint64(len(f.data)))
	var out []byte
	for uint64(len(out)) < size {
		s := f.sector(n)
		if s == nil {
			break
		}
		out = append(out, s...)
		if n >= uint32(len(f.fat)) {
			break
		}
		n = f.fat[n]
	}
	out = out[:min(uint64(len(out)), size)]
	return out, f.b.inflate(int64(len(out)))
}

// smallChain is chain for small sectors, of 64 bytes.
func (f *oleFile) smallChain(n uint32, size uint64) []byte {
	size = min(size, uint64(len(f.small)))
	var out []byte
	for uint64(len(out)) < size {
		start := uint64(n) * 64
		if start >= uint64(len(f.small)) {
			break
		}
		out = append(out, f.small[start:min(start+64, uint64(len(f.small)))]...)
		if n >= uint32(len(f.mini)) {
			break
		}
		n = f.mini[n]
	}
	return out[:min(uint64(len(out)), size)]
}

func (f *oleFile) readDirectory(directory leReader) {
	for off := 0; off+128 <= len(directory) && len(f.entries) < maxOLEEntries; off += 128 {
		e := directory[off : off+128]
		n := min(int(e.u16(64)), 64)
		f.entries = append(f.entries, oleEntry{
			name: strings.TrimRight(utf16LE(e.at(0, n)), "\x00"), kind: e.u8(66),
			left: e.u32(68), right: e.u32(72), child: e.u32(76), start: e.u32(116), size: f.entrySize(e),
		})
	}
}

// entrySize is a stream's size, of which files with small sectors have 32 bits.
func (f *oleFile) entrySize(e leReader) uint64 {
	if f.shift == 9 {
		return uint64(e.u32(120))
	}
	return e.u64(120)
}

// walk finds the path of every entry. Each is gone to once, so that loops end.
func (f *oleFile) walk() {
	type step struct {
		entry  uint32
		prefix string
	}
	seen := make([]bool, len(f.entries))
	todo := []step{{f.entries[0].child, ""}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at.entry >= uint32(len(f.entries)) || seen[at.entry] || len(at.prefix) > maxHeading {
			continue
		}
		seen[at.entry] = true
		e := f.entries[at.entry]
		path := at.prefix + strings.ToLower(e.name)
		f.paths[path] = int(at.entry)
		todo = append(todo, step{e.left, at.prefix}, step{e.right, at.prefix})
		if e.kind == 1 {
			todo = append(todo, step{e.child, path + "/"})
		}
	}
}

func (f *oleFile) has(path string) bool {
	_, ok := f.paths[strings.ToLower(path)]
	return ok
}

// stream is the content of a stream, empty where there is none.
func (f *oleFile) stream(path string) (leReader, error) {
	i, ok := f.paths[strings.ToLower(path)]
	if !ok {
		return nil, nil
	}
	e := f.entries[i]
	if e.size < uint64(f.cutoff) {
		small := f.smallChain(e.start, e.size)
		return small, f.b.inflate(int64(len(small)))
	}
	return f.chain(e.start, e.size)
}

// oleUnread are the documents that are known but not read, by a stream of each.
var oleUnread = map[string]string{
	"PP40": "a presentation of PowerPoint 95 or before", "PP97_DUALSTORAGE": "a presentation of PowerPoint 95 or before",
	"VisioDocument": "a drawing of Visio 2010 or before", "Quill": "a document of Publisher", "MatOST": "a document of Works",
	"HwpSummaryInformation": "a document of Hangul", "StarWriterDocument": "a document of StarOffice",
	"StarCalcDocument": "a document of StarOffice", "StarDrawDocument3": "a document of StarOffice",
	"__properties_version1.0": "a message of Outlook",
}

// parseOLE reads the documents of Office before 2007, told by their streams.
func parseOLE(d *Document) error {
	f, err := openOLE(d)
	if err != nil {
		return err
	}
	switch {
	case f.has("EncryptedPackage"), f.has("EncryptionInfo"):
		return notText("encrypted: it needs a password")
	case f.has("\x09DRMContent"), f.has("\x06DataSpaces/DataSpaceMap"):
		return notText("encrypted: it is protected by rights management")
	case f.has("WordDocument"):
		d.Type = officeType2(d.Type, "doc", "dot")
		return parseDOC(d, f)
	case f.has("Workbook"), f.has("Book"):
		d.Type = officeType2(d.Type, "xls", "xlt", "xla")
		return parseXLS(d, f)
	case f.has("PowerPoint Document"):
		d.Type = officeType2(d.Type, "ppt", "pps", "pot")
		return parsePPT(d, f)
	}
	for stream, what := range oleUnread {
		if f.has(stream) {
			return notText("not read: " + what)
		}
	}
	return notText("corrupt: not a " + d.Type + " document: its compound file has no part that is known")
}

// officeType2 is the document's own type where it is one of those, else the first.
func officeType2(own string, types ...string) string {
	for _, t := range types {
		if t == own {
			return own
		}
	}
	return types[0]
}
