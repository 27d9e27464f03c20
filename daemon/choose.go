package daemon

import (
	"time"

	"quern/index"
	"quern/ipc"
)

// chosen is the test for the documents that the params choose apart from what they
// ask, nil for all.
func chosen(c *core, p ipc.SearchParams) (func(*index.DocumentInfo) bool, error) {
	return keep(c, p, time.Now())
}
