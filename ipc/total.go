package ipc

import "encoding/json"

// wireResult is a SearchResult on the wire: one of the totals is there.
type wireResult struct {
	Query        string   `json:"query"`
	Model        string   `json:"model"`
	Generation   uint64   `json:"generation"`
	Passages     int      `json:"passages"`
	Total        *int     `json:"total,omitempty"`
	TotalAtLeast *int     `json:"total_at_least,omitempty"`
	TookUS       int64    `json:"took_us"`
	Pending      int      `json:"pending"`
	Stale        bool     `json:"stale,omitempty"`
	Suggestions  []string `json:"suggestions,omitempty"`
	Degraded     string   `json:"degraded,omitempty"`
	Hits         []Hit    `json:"hits"`
}

// Wire returns a value of the type that has the members of a SearchResult as
// they are in JSON, for those who describe it.
func (SearchResult) Wire() any { return wireResult{} }

// MarshalJSON names Total total or total_at_least.
func (r SearchResult) MarshalJSON() ([]byte, error) {
	w := wireResult{r.Query, r.Model, r.Generation, r.Passages, &r.Total, nil, r.TookUS, r.Pending, r.Stale, r.Suggestions, r.Degraded, r.Hits}
	if r.TotalAtLeast {
		w.Total, w.TotalAtLeast = nil, &r.Total
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *SearchResult) UnmarshalJSON(b []byte) error {
	var w wireResult
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = SearchResult{w.Query, w.Model, w.Generation, w.Passages, 0, w.TotalAtLeast != nil, w.TookUS, w.Pending, w.Stale, w.Suggestions, w.Degraded, w.Hits}
	for _, n := range []*int{w.Total, w.TotalAtLeast} {
		if n != nil {
			r.Total = *n
		}
	}
	return nil
}
