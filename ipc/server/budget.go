package server

import "sync/atomic"

// freeBytes of every request are not counted: so small requests always get
// through, whatever others hold.
const freeBytes = 4 << 10

// budget bounds the bytes of requests that a server holds.
type budget struct {
	limit int64
	used  atomic.Int64
}

// counted is the part of a request of n bytes that counts.
func counted(n int) int64 { return int64(max(0, n-freeBytes)) }

func (b *budget) take(n int64) bool {
	if n == 0 {
		return true
	}
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) {
	if n != 0 {
		b.used.Add(-n)
	}
}
