//go:build race

package sandbox

// memoryScale makes room for what the race detector keeps beside each word.
const memoryScale = 6
