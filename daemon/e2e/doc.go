// Package e2e tests the real quern binary: real processes, a real socket, real
// files. The scripts in testdata/script cover the command line; the tests beside
// them what a script cannot say.
//
// Every sandbox has its own home and its own places for config, cache, socket
// and temporary files, and fails its test when a daemon outlives it.
package e2e
