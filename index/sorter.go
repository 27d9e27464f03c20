package index

// sorter puts candidates in about descending order of their bounds in linear
// time, and leaves those of about the same bound in the order they had.
type sorter struct {
	out     []candidate
	buckets []uint8 // by candidate
	counts  [sorterBuckets + 1]int
}

const sorterBuckets = 16

// sort sorts candidates whose bounds are from 0 to most. The result is valid
// until the next call.
func (s *sorter) sort(all []candidate, most float64) []candidate {
	s.out = append(s.out[:0], all...)
	s.buckets = s.buckets[:0]
	clear(s.counts[:])
	for i := range all {
		b := sorterBuckets - 1 - bucket(all[i].upper, most)
		s.buckets = append(s.buckets, uint8(b))
		s.counts[b+1]++
	}
	for b := range sorterBuckets {
		s.counts[b+1] += s.counts[b]
	}
	for i, b := range s.buckets {
		s.out[s.counts[b]] = all[i]
		s.counts[b]++
	}
	return s.out
}

// bucket of a bound: the upper half of the range has them all, for the lower is
// seldom reached.
func bucket(upper, most float64) int {
	if x := (2*upper/most - 1) * sorterBuckets; x > 0 { // not for Inf/Inf, either
		return min(int(x), sorterBuckets-1)
	}
	return 0
}
