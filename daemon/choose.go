package daemon

import (
	"time"

	"quern/index"
	lang "quern/index/query"
	"quern/ipc"
)

// chosen is the test for the documents that the params choose apart from what they
// ask, nil for all.
func chosen(c *core, p ipc.SearchParams) (func(*index.DocumentInfo) bool, error) {
	tests, err := filters(c, p, &lang.Query{}, time.Now())
	return tests.keep(), err
}
