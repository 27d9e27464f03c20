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
	root []*page[T]
	n    int
	txn  uint64 // the transaction that owns root
}

// pagesOf makes an array of n elements.
func pagesOf[T any](txn uint64, n int, element func(i int) T) (p pages[T]) {
	p.grow(txn, n)
	for i := range n {
		p.root[i/pageSize].v[i%pageSize] = element(i)
	}
	return p
}

func (p *pages[T]) len() int { return p.n }

func (p *pages[T]) at(i int) T { return p.root[i/pageSize].v[i%pageSize] }

// own makes root the transaction's own, with room for n elements.
func (p *pages[T]) own(txn uint64, n int) {
	need := (n + pageSize - 1) / pageSize
	if p.txn != txn {
		root := make([]*page[T], len(p.root), max(need, len(p.root)+1))
		copy(root, p.root)
		p.root, p.txn = root, txn
	}
	for len(p.root) < need {
		p.root = append(p.root, &page[T]{txn: txn})
	}
}

// grow makes the array n elements long; new ones are zero.
func (p *pages[T]) grow(txn uint64, n int) {
	if n > p.n {
		p.own(txn, n)
		p.n = n
	}
}

// edit returns element i for the transaction to change.
func (p *pages[T]) edit(txn uint64, i int) *T {
	p.own(txn, p.n)
	pg := p.root[i/pageSize]
	if pg.txn != txn {
		pg = &page[T]{txn: txn, v: pg.v}
		p.root[i/pageSize] = pg
	}
	return &pg.v[i%pageSize]
}

// editPage returns all elements of a page for the transaction to change; i is
// the first.
func (p *pages[T]) editPage(txn uint64, i int) []T {
	p.edit(txn, i)
	return p.root[i/pageSize].v[:min(pageSize, p.n-i)]
}

func (p *pages[T]) set(txn uint64, i int, v T) { *p.edit(txn, i) = v }
