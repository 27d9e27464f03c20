package index

// pageSize is how many elements are copied at the first change of one.
const pageSize = 64

type page[T any] struct {
	txn uint64
	v   [pageSize]T
}

// pages is an array that snapshots share: a value copy of it stays as it is
// while a transaction changes another. A page is copied when a transaction
// first changes it; what carries the transaction's own number is its to
// change in place. Transaction numbers are never used twice.
type pages[T any] struct {
	root []*page[T] // nil: as base says
	n    int
	txn  uint64 // the transaction that owns root
	// base gives the elements of pages that were never changed: from a mapped
	// file, say. Nil gives zero.
	base func(i int) T
}

// pagesOf makes an array of n elements.
func pagesOf[T any](txn uint64, n int, element func(i int) T) (p pages[T]) {
	p.grow(txn, n)
	for i := range n {
		*p.edit(txn, i) = element(i)
	}
	return p
}

// pagesOn makes an array of n elements that stay where base finds them until they
// are changed.
func pagesOn[T any](txn uint64, n int, base func(i int) T) (p pages[T]) {
	p.grow(txn, n)
	p.base = base
	return p
}

func (p *pages[T]) len() int { return p.n }

func (p *pages[T]) at(i int) T {
	if pg := p.root[i/pageSize]; pg != nil {
		return pg.v[i%pageSize]
	}
	return p.unchanged(i)
}

func (p *pages[T]) unchanged(i int) (v T) {
	if p.base != nil {
		v = p.base(i)
	}
	return v
}

// own makes root the transaction's own, with room for n elements.
func (p *pages[T]) own(txn uint64, n int) {
	need := (n + pageSize - 1) / pageSize
	if p.txn != txn {
		root := make([]*page[T], len(p.root), max(need, len(p.root)+1))
		copy(root, p.root)
		p.root, p.txn = root, txn
	}
	for len(p.root) < need {
		p.root = append(p.root, nil)
	}
}

// grow makes the array n elements long; new ones are zero.
func (p *pages[T]) grow(txn uint64, n int) {
	if n <= p.n {
		return
	}
	if p.base != nil && p.n%pageSize != 0 {
		p.edit(txn, p.n-1) // base does not know the new ones in its page
	}
	old := (p.n + pageSize - 1) / pageSize
	p.own(txn, n)
	if p.n = n; p.base != nil {
		for i := old; i < len(p.root); i++ {
			p.root[i] = &page[T]{txn: txn}
		}
	}
}

// edit returns element i for the transaction to change.
func (p *pages[T]) edit(txn uint64, i int) *T {
	p.own(txn, p.n)
	pg := p.root[i/pageSize]
	switch {
	case pg == nil:
		pg = p.page(txn, i/pageSize)
	case pg.txn != txn:
		pg = &page[T]{txn: txn, v: pg.v}
	}
	p.root[i/pageSize] = pg
	return &pg.v[i%pageSize]
}

// page makes a page of unchanged elements.
func (p *pages[T]) page(txn uint64, n int) *page[T] {
	pg := &page[T]{txn: txn}
	if p.base != nil {
		for i := range min(pageSize, p.n-n*pageSize) {
			pg.v[i] = p.base(n*pageSize + i)
		}
	}
	return pg
}

// editPage returns all elements of a page for the transaction to change; i is
// the first.
func (p *pages[T]) editPage(txn uint64, i int) []T {
	p.edit(txn, i)
	return p.root[i/pageSize].v[:min(pageSize, p.n-i)]
}

func (p *pages[T]) set(txn uint64, i int, v T) { *p.edit(txn, i) = v }
