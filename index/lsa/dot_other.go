//go:build !amd64

package lsa

func dot(q []int16, rows []int8, out []int32) { dotsGeneric(q, rows, out) }
