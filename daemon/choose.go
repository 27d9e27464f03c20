package daemon

import (
	"context"
	"time"

	"quern/index"
	lang "quern/index/query"
	"quern/ipc"
)

// chosen is the test for the documents that the params choose apart from what they
// ask, nil for all.
func chosen(ctx context.Context, c *core, p ipc.SearchParams) (func(*index.DocumentInfo) bool, error) {
	tests, err := filters(c, p, &lang.Query{}, time.Now())
	if err != nil {
		return nil, err
	}
	return c.withoutAbsent(ctx, tests.keep())
}
