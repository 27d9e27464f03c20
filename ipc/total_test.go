package ipc

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestTotalOnTheWire(t *testing.T) {
	for _, c := range []struct {
		r          SearchResult
		has, lacks string
	}{
		{SearchResult{Query: "q", Total: 7, Hits: []Hit{}}, `"total":7`, "total_at_least"},
		{SearchResult{Query: "q", Hits: []Hit{}}, `"total":0`, "total_at_least"},
		{SearchResult{Query: "q", Total: 7, TotalAtLeast: true, Hits: []Hit{}}, `"total_at_least":7`, `"total":`},
	} {
		b, err := json.Marshal(c.r)
		if err != nil || !strings.Contains(string(b), c.has) || strings.Contains(string(b), c.lacks) {
			t.Errorf("%+v on the wire: %s, %v", c.r, b, err)
		}
		var back SearchResult
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, c.r) {
			t.Errorf("%s is read as %+v, %v", b, back, err)
		}
	}
}
