package segment

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Text is gathered in blocks of about 24 KiB, whole passages each:
//
//	u8 codec (0 as it stands, 1 zstd) · the bytes
//
// with columns for the offset of each block, for where its text begins in the
// text of all, and for where each passage's text begins there.
const (
	textBlock    = 24 << 10
	textRaw      = 0
	textZstd     = 1
	textMaxBlock = 1 << 30
	// textSmall: the frames of shorter texts do not say how long they are.
	textSmall = 512
)

var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(64<<10), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(textMaxBlock))
		if err != nil {
			panic(err) // the options are constants
		}
		return d
	})
)

type textWriter struct {
	compress bool
	pending  []byte // of a block to be packed
	open     int    // bytes of text of the block begun
	raw      uint64 // bytes of text before it
	size     uint64 // bytes written
	offs     columnWriter
	begins   columnWriter
	starts   columnWriter
	buf      []byte
}

// add appends a passage's text; the block it fills is written to o.
func (w *textWriter) add(o *out, text []byte) {
	w.starts.add(w.raw + uint64(w.open))
	if w.compress {
		w.pending = append(w.pending, text...)
	} else if len(text) > 0 {
		w.stream(o, text)
	}
	w.open += len(text)
	if w.open >= textBlock {
		w.flush(o)
	}
}

// stream writes text as it stands.
func (w *textWriter) stream(o *out, text []byte) {
	if w.open == 0 {
		w.begin(o, []byte{textRaw})
	}
	w.size += uint64(len(text))
	o.write(text)
}

func (w *textWriter) flush(o *out) {
	if w.open == 0 {
		return
	}
	if w.compress {
		w.begin(o, w.packed())
		w.pending = w.pending[:0]
	}
	w.raw += uint64(w.open)
	w.open = 0
}

// packed gives pending as a block.
func (w *textWriter) packed() []byte {
	if len(w.pending) >= textSmall {
		w.buf = encoder().EncodeAll(w.pending, append(w.buf[:0], textZstd))
		if len(w.buf) <= len(w.pending) {
			return w.buf
		}
	}
	w.buf = append(append(w.buf[:0], textRaw), w.pending...)
	return w.buf
}

// begin writes a block, or the first part of one.
func (w *textWriter) begin(o *out, block []byte) {
	w.offs.add(w.size)
	w.begins.add(w.raw)
	w.size += uint64(len(block))
	o.write(block)
}

// copyBlock takes over a compressed block whole; lens are the lengths of its
// passages' texts.
func (w *textWriter) copyBlock(o *out, block []byte, lens []int) {
	w.flush(o)
	raw := 0
	for _, n := range lens {
		w.starts.add(w.raw + uint64(raw))
		raw += n
	}
	w.begin(o, block)
	w.raw += uint64(raw)
}

// TextBuffer keeps the last block a reader unpacked, for passages that share
// it. The zero value is ready. It serves one goroutine.
type TextBuffer struct {
	r     *Reader
	block int
	text  []byte
}

// Text gives the text of passage i, valid until buf is used again.
func (r *Reader) Text(i int, buf *TextBuffer) ([]byte, error) {
	from, to := r.textStarts.get(i), r.textSize
	if i+1 < r.passages {
		to = r.textStarts.get(i + 1)
	}
	if from > to || to > r.textSize {
		return nil, corrupt("text of passage %d at %d–%d of %d", i, from, to, r.textSize)
	}
	if from == to {
		return nil, nil
	}
	block := r.textBegins.search(from+1) - 1
	if block < 0 {
		return nil, corrupt("text of passage %d begins before the first block", i)
	}
	begin := r.textBegins.get(block)
	if err := r.unpackText(block, buf); err != nil {
		return nil, err
	}
	if to-begin > uint64(len(buf.text)) {
		return nil, corrupt("text of passage %d passes the end of its block", i)
	}
	return buf.text[from-begin : to-begin], nil
}

func (r *Reader) unpackText(block int, buf *TextBuffer) error {
	if buf.r == r && buf.block == block {
		return nil
	}
	b, err := r.text.slice(&r.textOffs, block)
	if err != nil {
		return err
	}
	size, err := r.textBlockSize(block)
	if err != nil {
		return err
	}
	buf.r = nil
	if len(b) == 0 {
		return corrupt("empty text block %d", block)
	}
	if b[0] == textZstd {
		buf.text, err = decodeText(b[1:], buf.text[:0], size)
	} else {
		buf.text = append(buf.text[:0], b[1:]...)
	}
	if err != nil || len(buf.text) != size {
		return corrupt("text block %d does not unpack to %d bytes: %v", block, size, err)
	}
	buf.r, buf.block = r, block
	return nil
}

// decodeText refuses to unpack more than was announced.
func decodeText(b, dst []byte, size int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return nil, err
	}
	if !h.HasFCS || h.FrameContentSize != uint64(size) {
		return nil, corrupt("the frame is not of %d bytes", size)
	}
	return decoder().DecodeAll(b, dst)
}

// textBlockSize is the length of a block's text.
func (r *Reader) textBlockSize(block int) (int, error) {
	begin, end := r.textBegins.get(block), r.textSize
	if block+1 < r.textBegins.n {
		end = r.textBegins.get(block + 1)
	}
	if end < begin || end-begin > textMaxBlock {
		return 0, corrupt("text block %d covers %d–%d", block, begin, end)
	}
	return int(end - begin), nil
}
