//go:build !race

package sandbox

const memoryScale = 1
