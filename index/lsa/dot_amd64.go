package lsa

import "golang.org/x/sys/cpu"

// dotsAVX2 is dotsGeneric for n > 0 a multiple of Lane and count > 0.
//
//go:noescape
func dotsAVX2(q *int16, rows *int8, n, count int, out *int32)

func dot(q []int16, rows []int8, out []int32) {
	if !cpu.X86.HasAVX2 || len(q) == 0 || len(out) == 0 {
		dotsGeneric(q, rows, out)
		return
	}
	_ = rows[len(q)*len(out)-1]
	dotsAVX2(&q[0], &rows[0], len(q), len(out), &out[0])
}
