package lsa

import "unsafe"

// signed is the same bytes as signed numbers, without a copy: the data may be a mapped
// file of gigabytes.
func signed(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}
