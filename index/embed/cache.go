package embed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/zeebo/xxh3"

	"quern/index/lsa"
)

// A cache file is a head and records, little-endian:
//
//	magic (8) · xxh3 of the client's name (8)
//	xxh3-128 of the text (16) · dimensions (2) · scale (4) · a byte a dimension · xxh3 of
//	the record so far (8)
//
// A record that does not agree with its checksum ends the file: what follows
// is overwritten. Texts are not kept. When a file has grown to its bound it becomes the
// previous one, whose records are still found, and the one before that goes.
const (
	cacheMagic   = "QUERNEMB"
	cacheHead    = 16
	cacheName    = "embeddings"
	previousName = "embeddings.previous"
	recordHead   = 16 + 2 + 4
)

// maxCache bounds each of the two files, in bytes; tests change it.
var maxCache int64 = 256 << 20

// cache remembers vectors by text. All methods of a nil cache do nothing. Writing
// that fails is not told: the service can be asked again.
type cache struct {
	mu   sync.Mutex
	dir  string
	name uint64
	now  *cacheFile
	then *cacheFile // nil: none
}

type cacheFile struct {
	f    *os.File
	at   map[xxh3.Uint128]int64 // where records begin
	size int64
}

func openCache(dir, name string) (*cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the cache of embeddings: %w", err)
	}
	c := &cache{dir: dir, name: xxh3.HashString(name)}
	var err error
	if c.now, err = c.open(cacheName); err != nil {
		return nil, fmt.Errorf("open the cache of embeddings: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, previousName)); err == nil {
		if c.then, err = c.open(previousName); err != nil {
			return nil, errors.Join(fmt.Errorf("open the cache of embeddings: %w", err), c.now.f.Close())
		}
	}
	return c, nil
}

// open opens a file and finds its records; one of another client is emptied.
func (c *cache) open(name string) (*cacheFile, error) {
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	file := &cacheFile{f: f, at: make(map[xxh3.Uint128]int64)}
	if err := file.scan(c.head()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file, nil
}

func (c *cache) head() []byte {
	return binary.LittleEndian.AppendUint64([]byte(cacheMagic), c.name)
}

// scan finds the records, and cuts off what is none.
func (f *cacheFile) scan(head []byte) error {
	data, err := io.ReadAll(io.LimitReader(f.f, maxCache+1<<20))
	if err != nil {
		return err
	}
	if len(data) < cacheHead || string(data[:cacheHead]) != string(head) {
		if err := f.f.Truncate(0); err != nil {
			return err
		}
		_, err := f.f.WriteAt(head, 0)
		f.size = cacheHead
		return err
	}
	f.size = cacheHead
	for {
		n, ok := recordLength(data[f.size:])
		if !ok {
			return f.f.Truncate(f.size)
		}
		f.at[keyIn(data[f.size:])] = f.size
		f.size += int64(n)
	}
}

// recordLength is the length of the record at the front of b, if it is whole.
func recordLength(b []byte) (n int, ok bool) {
	if len(b) < recordHead {
		return 0, false
	}
	n = recordHead + int(binary.LittleEndian.Uint16(b[16:])) + 8
	if len(b) < n {
		return 0, false
	}
	return n, xxh3.Hash(b[:n-8]) == binary.LittleEndian.Uint64(b[n-8:])
}

func keyIn(b []byte) xxh3.Uint128 {
	return xxh3.Uint128{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}
}

// get returns the vector of a text, nil if it is not known.
func (c *cache) get(text string) []float32 {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := xxh3.HashString128(text)
	if v := c.now.read(key); v != nil {
		return v
	}
	if c.then == nil {
		return nil
	}
	return c.then.read(key)
}

func (f *cacheFile) read(key xxh3.Uint128) []float32 {
	at, ok := f.at[key]
	if !ok {
		return nil
	}
	head := make([]byte, recordHead)
	if _, err := f.f.ReadAt(head, at); err != nil {
		return nil
	}
	rest := make([]byte, int(binary.LittleEndian.Uint16(head[16:]))+8)
	if _, err := f.f.ReadAt(rest, at+recordHead); err != nil {
		return nil
	}
	record := append(head, rest...)
	if n, ok := recordLength(record); !ok || n != len(record) || keyIn(record) != key {
		return nil
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(record[18:]))
	out := make([]float32, len(rest)-8)
	for i := range out {
		out[i] = scale * float32(int8(rest[i]))
	}
	return out
}

// put remembers the vector of a text.
func (c *cache) put(text string, vector []float32) {
	if c == nil || len(vector) > math.MaxUint16 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.size > maxCache {
		if err := c.turn(); err != nil {
			return
		}
	}
	key := xxh3.HashString128(text)
	record := recordOf(key, vector)
	if _, err := c.now.f.WriteAt(record, c.now.size); err != nil {
		return
	}
	c.now.at[key] = c.now.size
	c.now.size += int64(len(record))
}

func recordOf(key xxh3.Uint128, vector []float32) []byte {
	v := lsa.NewVectors(len(vector), 1)
	v.Set(0, vector)
	b := binary.LittleEndian.AppendUint64(nil, key.Hi)
	b = binary.LittleEndian.AppendUint64(b, key.Lo)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(vector)))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Scale[0]))
	for _, x := range v.Data {
		b = append(b, byte(x))
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// turn makes the current file the previous one.
func (c *cache) turn() error {
	if c.then != nil {
		_ = c.then.f.Close() // it is replaced
		c.then = nil
	}
	if err := os.Rename(filepath.Join(c.dir, cacheName), filepath.Join(c.dir, previousName)); err != nil {
		return err
	}
	c.then = c.now
	now, err := c.open(cacheName)
	if err != nil {
		c.then, c.now = nil, &cacheFile{f: c.now.f, at: make(map[xxh3.Uint128]int64), size: cacheHead}
		return err
	}
	c.now = now
	return nil
}

func (c *cache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.now.f.Close()
	if c.then != nil {
		err = errors.Join(err, c.then.f.Close())
	}
	return err
}
