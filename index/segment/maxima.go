package segment

import (
	"encoding/binary"
	"math"
)

// A merged segment with scores keeps, for its frequent terms, how much the term
// can at most be worth in each block of 64 passages and in each superblock of
// such blocks, so that a search can pass by those that hold nothing good. The
// maxima of a term stand before its postings:
//
//	f32 scale · a byte for each superblock · a byte for each block
//
// A byte has two codes: in the high bits, of the greatest a/n̂, where a is
// 1 + ln tf and n̂ the root of the passage's Norm2: at most scale ·
// impactStep^(code-15); in the low bits, of the greatest tf (tfLimits). Zero
// is no posting. Beside them stands every block's and superblock's least
// passage length, for scores that depend on it.
const (
	// MaximaBlock is the number of passages in a block.
	MaximaBlock = 64

	impactStep = 1.1
	maxCode    = 15
	maxSuper   = 6
)

// Maxima say for which terms maxima are kept.
type Maxima struct {
	// Passages is how many passages a segment must have to keep any.
	Passages int
	// Share: a term has maxima if at least one passage in Share has it.
	Share int
	// Super is the binary logarithm of the number of blocks in a superblock,
	// at most 6.
	Super int
}

// DefaultMaxima cost about 1 % of the text.
var DefaultMaxima = Maxima{Passages: 4096, Share: 64, Super: 5}

// impactLevels are what codes stand for, as parts of the term's scale.
var impactLevels = func() (t [maxCode + 1]float64) {
	for c := 1; c <= maxCode; c++ {
		t[c] = math.Pow(impactStep, float64(c-maxCode))
	}
	return t
}()

// tfLimits are the greatest tfs that codes stand for.
var tfLimits = [maxCode + 1]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64, math.Inf(1)}

// MaxTFs gives, by the low four bits of a code, the greatest tf that it stands
// for; +Inf when there is no saying.
func MaxTFs() [16]float64 { return tfLimits }

// MaxImpacts gives, by the high four bits of a code, the greatest a/n̂ that it
// stands for.
func (m *TermMaxima) MaxImpacts() (out [16]float64) {
	for c := 1; c <= maxCode; c++ { // 0 stays, even if Scale is infinite
		out[c] = impactLevels[c] * float64(m.Scale)
	}
	return out
}

// TermMaxima are the maxima of one term.
type TermMaxima struct {
	Scale          float32
	Supers, Blocks []byte // codes
}

// maximaShape is what maxima a segment has.
type maximaShape struct {
	df             int // least df of a term that has them; 0: none has
	super          uint
	blocks, supers int
}

func (m Maxima) shape(passages int) maximaShape {
	if m.Share <= 0 || passages < max(m.Passages, 1) {
		return maximaShape{}
	}
	return newMaximaShape(max(1, (passages+m.Share-1)/m.Share), uint(m.Super), passages)
}

func newMaximaShape(df int, super uint, passages int) maximaShape {
	s := maximaShape{df: df, super: super}
	s.blocks = (passages + MaximaBlock - 1) / MaximaBlock
	s.supers = (s.blocks + 1<<super - 1) >> super
	return s
}

// has says whether a term with so many postings has maxima.
func (s *maximaShape) has(df int) bool { return s.df > 0 && df >= s.df }

// size is that of a term's maxima in bytes.
func (s *maximaShape) size() int { return 4 + s.supers + s.blocks }

// maximaWriter makes the maxima of one term after the other.
type maximaWriter struct {
	maximaShape
	inverse []float64 // by passage: 1/n̂
	impacts []float64 // by block
	tfs     []uint32  // by block
	bytes   []byte
}

// newMaximaWriter makes a writer for passages of these squared norms.
func newMaximaWriter(m Maxima, norms2 []float32) *maximaWriter {
	w := &maximaWriter{maximaShape: m.shape(len(norms2))}
	if w.df == 0 {
		return w
	}
	w.impacts, w.tfs = make([]float64, w.blocks), make([]uint32, w.blocks)
	w.inverse = make([]float64, len(norms2))
	for p, n := range norms2 {
		w.inverse[p] = math.Inf(1)
		if n > 0 {
			w.inverse[p] = 1 / math.Sqrt(float64(n))
		}
	}
	return w
}

// term gives the maxima of a term, valid until the next call; nil if it has
// none.
func (w *maximaWriter) term(docs, tfs []uint32) []byte {
	if w == nil || !w.has(len(docs)) {
		return nil
	}
	clear(w.impacts)
	clear(w.tfs)
	scale := 0.0
	for i, p := range docs {
		impact := logTF(tfs[i]) * w.inverse[p]
		b := p / MaximaBlock
		w.impacts[b], w.tfs[b] = max(w.impacts[b], impact), max(w.tfs[b], tfs[i])
		scale = max(scale, impact)
	}
	return w.encode(math.Nextafter32(float32(scale), float32(math.Inf(1))))
}

func (w *maximaWriter) encode(scale float32) []byte {
	w.bytes = appendFloat(w.bytes[:0], scale)
	w.bytes = append(w.bytes, make([]byte, w.supers+w.blocks)...)
	supers, blocks := w.bytes[4:4+w.supers], w.bytes[4+w.supers:]
	for b, tf := range w.tfs {
		if tf == 0 {
			continue
		}
		blocks[b] = impactCode(w.impacts[b], float64(scale))<<4 | tfCode(tf)
		s := &supers[b>>w.super]
		*s = max(*s&0xf0, blocks[b]&0xf0) | max(*s&0xf, blocks[b]&0xf)
	}
	return w.bytes
}

// impactCode is the lowest code that stands for at least the impact.
func impactCode(impact, scale float64) byte {
	lo, hi := 1, maxCode
	for lo < hi {
		if m := (lo + hi) / 2; impactLevels[m]*scale >= impact {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return byte(lo)
}

func tfCode(tf uint32) byte {
	c := 1
	for tfLimits[c] < float64(tf) {
		c++
	}
	return byte(c)
}

// leastLengths gives the least length in each block, then in each superblock.
func (s *maximaShape) leastLengths(lengths []uint32) []byte {
	if s.df == 0 {
		return nil
	}
	least := make([]uint32, s.blocks+s.supers)
	for i := range least {
		least[i] = 0xffff
	}
	for p, n := range lengths {
		b := p / MaximaBlock
		least[b] = min(least[b], n)
		sb := s.blocks + b>>s.super
		least[sb] = min(least[sb], n)
	}
	var out []byte
	for _, n := range least {
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
	}
	return out
}

// openMaxima proves the shape of what is read of maxima.
func (r *Reader) openMaxima() error {
	df, super := r.f.cnt[cntMaximaDF], r.f.cnt[cntMaximaSuper]
	least := r.f.section(secLeast)
	if df == 0 && super == 0 && len(least.b) == 0 {
		return nil
	}
	if df == 0 || df > math.MaxInt32 || super > maxSuper || !r.scored {
		return corrupt("maxima of terms from df %d in superblocks of 2^%d", df, super)
	}
	r.maxima, r.least = newMaximaShape(int(df), uint(super), r.passages), least.b
	if len(r.least) != 2*(r.maxima.blocks+r.maxima.supers) {
		return corrupt("least lengths of %d bytes", len(r.least))
	}
	return nil
}

// TermHasMaxima says whether term t has maxima.
func (r *Reader) TermHasMaxima(t int) bool { return r.HasMaxima() && r.maxima.has(r.DF(t)) }

// HasMaxima says whether terms of the segment may have maxima.
func (r *Reader) HasMaxima() bool { return r.maxima.df > 0 }

// SuperBlocks is the binary logarithm of the number of blocks in a superblock,
// and the number of superblocks.
func (r *Reader) SuperBlocks() (super uint, n int) { return r.maxima.super, r.maxima.supers }

// BlockLength is a lower bound of the lengths of the passages of a block.
func (r *Reader) BlockLength(b int) uint32 {
	return uint32(binary.LittleEndian.Uint16(r.least[2*b:]))
}

// SuperLength is a lower bound of the lengths of the passages of a superblock.
func (r *Reader) SuperLength(s int) uint32 { return r.BlockLength(r.maxima.blocks + s) }

// Maxima gives the maxima of the term whose postings p walks; false if it has
// none.
func (p *Postings) Maxima() (m TermMaxima, ok bool) {
	if p.maxima == nil {
		return m, false
	}
	s := &p.r.maxima
	return TermMaxima{float(p.maxima, 0), p.maxima[4 : 4+s.supers], p.maxima[4+s.supers:]}, true
}

// Seek goes, forwards or back, to the block that holds the first passage ≥ doc,
// and decodes its passages unless it is the current one. False means that there
// is no such passage, or an error.
func (p *Postings) Seek(doc uint32) bool {
	if p.skips == nil { // there is but one block
		return (len(p.Docs) > 0 || p.nextDocs()) && p.Docs[len(p.Docs)-1] >= doc
	}
	lo, hi := 0, p.Blocks()
	if len(p.Docs) > 0 {
		current := p.block - 1
		switch {
		case doc > p.Docs[len(p.Docs)-1]:
			lo, hi = p.gallop(doc)
		case doc >= p.Docs[0] || current == 0 || doc > p.Last(current-1):
			return true
		default:
			hi = current
		}
	}
	p.seek(p.search(lo, hi, doc))
	return p.nextDocs()
}

// gallop gives the bounds of a search for doc in the blocks not yet decoded.
func (p *Postings) gallop(doc uint32) (lo, hi int) {
	lo, hi = p.block, p.block
	for step := 1; hi < p.Blocks() && p.Last(hi) < doc; step *= 2 {
		lo = hi + 1
		hi += step
	}
	return lo, min(hi, p.Blocks())
}

// search finds, from lo to hi, the first block whose last passage is ≥ doc.
func (p *Postings) search(lo, hi int, doc uint32) int {
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if p.Last(m) < doc {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
