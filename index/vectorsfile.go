package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	"github.com/zeebo/xxh3"

	"quern/index/lsa"
	"quern/index/segment/vfs"
)

// The file of vectors can be made again from the index at any time. All numbers are
// little-endian:
//
//	magic (8) · version (4) · frontier (8) · frontier learned from (8)
//	lengths of the four parts (8 each) · xxh3 of all before (8)
//	name of the embedding · model (empty but for a learned one; package lsa)
//	pid and hash of each passage (8 each), xxh3 of them · vectors (package lsa)
const (
	vectorsName    = "VECTORS"
	vectorsTemp    = "VECTORS.tmp"
	vectorsMagic   = "QUERNVEC"
	vectorsVersion = 1
	vectorsHeader  = 8 + 4 + 8 + 8 + 4*8 + 8
)

var errVectors = errors.New("the file of vectors cannot be used")

// saveShare is which part of the passages may be missing in the file: they are
// embedded again at the next start.
const saveShare = 8

// save writes the vectors if enough of them are new.
func (l *latent) save(ctx context.Context, sp *space) error {
	e := l.engine
	if e.store == nil {
		return nil
	}
	s, n := e.Snapshot(), 0
	for _, b := range sp.blocks {
		n += len(b.pids)
	}
	if l.saved > 0 && n-l.saved <= l.saved/saveShare {
		return nil
	}
	// What is not yet durable may be another passage after a crash.
	if err := e.Flush(ctx); err != nil {
		return err
	}
	all := &vectorBlock{vec: lsa.NewVectors(0, 0)}
	if len(sp.blocks) > 0 {
		all.vec = lsa.NewVectors(sp.blocks[0].vec.Dimensions, 0)
	}
	if sp.guarded(func() {
		for _, b := range sp.blocks {
			all.take(s, b)
		}
	}) {
		l.forget(sp)
		return errVectors
	}
	frontier := min(sp.frontier, s.frontier())
	header, parts, err := l.encode(s, sp, all, frontier)
	if err != nil {
		return err
	}
	if err := replaceFile(e.store.fs, vectorsTemp, vectorsName, append([][]byte{header}, parts...)); err != nil {
		return err
	}
	l.saved = max(1, len(all.pids))
	return l.remap(sp)
}

// remap uses the file just written in place of the memory.
func (l *latent) remap(sp *space) error {
	var embedder Embedder
	if r, ok := sp.embedding.(remote); ok {
		embedder = r.Embedder
	}
	from, err := l.open(embedder)
	if err != nil || from == nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.current.Load()
	if now == nil || now.name() != sp.name() {
		return nil
	}
	blocks := from.blocks
	for _, b := range now.blocks { // what came meanwhile
		if i, _ := slices.BinarySearch(b.pids, from.frontier); i < len(b.pids) {
			blocks = append(blocks, b.from(i))
		}
	}
	l.current.Store(&space{now.embedding, blocks, now.frontier})
	return nil
}

// from is the block without its first passages.
func (b *vectorBlock) from(i int) *vectorBlock {
	d := b.vec.Dimensions
	return &vectorBlock{pids: b.pids[i:], vec: &lsa.Vectors{Dimensions: d, Scale: b.vec.Scale[i:], Data: b.vec.Data[i*d:]}, file: b.file}
}

func (l *latent) encode(s *Snapshot, sp *space, all *vectorBlock, frontier uint64) (header []byte, parts [][]byte, err error) {
	var model []byte
	if own, ok := sp.embedding.(*learned); ok {
		model = own.model.Encode()
	}
	var passages []byte
	damage := guard(s.views, func() {
		for _, pid := range all.pids {
			hash, _ := s.hashOf(pid)
			passages = binary.LittleEndian.AppendUint64(passages, pid)
			passages = binary.LittleEndian.AppendUint64(passages, hash)
		}
	})
	if damage != nil {
		return nil, nil, damage
	}
	passages = binary.LittleEndian.AppendUint64(passages, xxh3.Hash(passages))
	parts = [][]byte{[]byte(sp.name()), model, passages, all.vec.Encode()}
	return vectorsHead(frontier, l.learnedTo, parts), parts, nil
}

// vectorsHead is the file's header.
func vectorsHead(frontier, learnedTo uint64, parts [][]byte) []byte {
	b := append([]byte(nil), vectorsMagic...)
	b = binary.LittleEndian.AppendUint32(b, vectorsVersion)
	b = binary.LittleEndian.AppendUint64(b, frontier)
	b = binary.LittleEndian.AppendUint64(b, learnedTo)
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(p)))
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// hashOf is the hash of a live passage.
func (s *Snapshot) hashOf(pid uint64) (hash uint64, ok bool) {
	i, local, ok := s.livePassage(pid)
	if !ok {
		return 0, false
	}
	hash, err := s.views[i].PassageHash(local)
	s.views[i].must(err)
	return hash, true
}

// replaceFile makes a file's contents those given, or leaves it as it was.
func replaceFile(fs vfs.FS, temp, name string, parts [][]byte) error {
	err := writeWhole(fs, temp, func(f vfs.File) error {
		for _, p := range parts {
			if _, err := f.Write(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(fs.Rename(temp, name), fs.SyncDir())
}

// open reads the file of vectors: nil if there is none, or those of another
// embedding. An error says why it cannot be used.
func (l *latent) open(embedder Embedder) (*space, error) {
	if l.engine.store == nil {
		return nil, nil
	}
	m, err := l.engine.store.fs.Map(vectorsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errVectors, err)
	}
	sp, learnedTo, err := l.decode(m, embedder)
	if err != nil || sp == nil {
		return nil, errors.Join(err, m.Close())
	}
	l.learnedTo = learnedTo
	l.saved = max(1, len(sp.blocks[0].pids))
	runtime.AddCleanup(sp.blocks[0], func(m *vfs.Mapping) { _ = m.Close() }, m)
	return sp, nil
}

func (l *latent) decode(m *vfs.Mapping, embedder Embedder) (sp *space, learnedTo uint64, err error) {
	b := m.Data
	if len(b) < vectorsHeader || string(b[:8]) != vectorsMagic || binary.LittleEndian.Uint32(b[8:]) != vectorsVersion {
		return nil, 0, fmt.Errorf("%w: it is of another version", errVectors)
	}
	header := b[:vectorsHeader-8]
	if xxh3.Hash(header) != binary.LittleEndian.Uint64(b[len(header):]) {
		return nil, 0, fmt.Errorf("%w: its header is damaged", errVectors)
	}
	parts, err := splitParts(b[vectorsHeader:], header[8+4+8+8:])
	if err != nil {
		return nil, 0, err
	}
	emb, err := embeddingOf(string(parts[0]), parts[1], embedder)
	if err != nil || emb == nil {
		return nil, 0, err
	}
	sp = &space{embedding: emb, frontier: binary.LittleEndian.Uint64(header[12:])}
	block, err := l.decodeBlock(parts[2], parts[3], sp.frontier)
	if err != nil {
		return nil, 0, err
	}
	block.file = m
	sp.blocks = []*vectorBlock{block}
	return sp, binary.LittleEndian.Uint64(header[20:]), nil
}

func splitParts(b, lengths []byte) ([][]byte, error) {
	var parts [][]byte
	for ; len(lengths) >= 8; lengths = lengths[8:] {
		n := binary.LittleEndian.Uint64(lengths)
		if n > uint64(len(b)) {
			return nil, fmt.Errorf("%w: it is cut short", errVectors)
		}
		parts = append(parts, b[:n:n])
		b = b[n:]
	}
	return parts, nil
}

// embeddingOf is the embedding that made a file, nil if it is not the one in use.
func embeddingOf(name string, model []byte, embedder Embedder) (embedding, error) {
	if embedder != nil {
		if r := (remote{embedder}); name == r.name() {
			return r, nil
		}
		return nil, nil
	}
	if len(model) == 0 {
		return nil, nil
	}
	m, err := lsa.Decode(model)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errVectors, err)
	}
	return &learned{m, name}, nil
}

// decodeBlock reads the vectors and proves that they are those of the index's passages:
// each live passage below the frontier must be there with its hash.
func (l *latent) decodeBlock(passages, vectors []byte, frontier uint64) (*vectorBlock, error) {
	vec, err := lsa.DecodeVectors(vectors)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errVectors, err)
	}
	if len(passages) != 16*vec.Len()+8 || xxh3.Hash(passages[:16*vec.Len()]) != binary.LittleEndian.Uint64(passages[16*vec.Len():]) {
		return nil, fmt.Errorf("%w: its passages are damaged", errVectors)
	}
	block := &vectorBlock{vec: vec, pids: make([]uint64, vec.Len())}
	hashes := make(map[uint64]uint64, vec.Len())
	for i := range block.pids {
		block.pids[i] = binary.LittleEndian.Uint64(passages[16*i:])
		hashes[block.pids[i]] = binary.LittleEndian.Uint64(passages[16*i+8:])
	}
	if !slices.IsSorted(block.pids) {
		return nil, fmt.Errorf("%w: its passages are not in order", errVectors)
	}
	same := true
	s := l.engine.Snapshot()
	damage := guard(s.views, func() { same = s.agrees(hashes, frontier) })
	if damage != nil || !same {
		return nil, fmt.Errorf("%w: it is that of other passages", errVectors)
	}
	return block, nil
}

// agrees reports whether each live passage below the frontier has its hash.
func (s *Snapshot) agrees(hashes map[uint64]uint64, frontier uint64) bool {
	same := true
	for i := range s.views {
		v := &s.views[i]
		v.eachLive(func(local int) {
			pid := v.PassageID(local)
			if pid >= frontier || !same {
				return
			}
			hash, err := v.PassageHash(local)
			v.must(err)
			known, ok := hashes[pid]
			same = ok && known == hash
		})
	}
	return same
}
