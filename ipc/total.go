package ipc

import "encoding/json"

// searchResult is SearchResult without its methods.
type searchResult SearchResult

// wireResult is a SearchResult on the wire: one of the totals is there.
type wireResult struct {
	searchResult
	Total        *int `json:"total,omitempty"`
	TotalAtLeast *int `json:"total_at_least,omitempty"`
}

// MarshalJSON names Total total or total_at_least.
func (r SearchResult) MarshalJSON() ([]byte, error) {
	w := wireResult{searchResult: searchResult(r)}
	if r.TotalAtLeast {
		w.TotalAtLeast = &r.Total
	} else {
		w.Total = &r.Total
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *SearchResult) UnmarshalJSON(b []byte) error {
	w := wireResult{}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = SearchResult(w.searchResult)
	switch {
	case w.TotalAtLeast != nil:
		r.Total, r.TotalAtLeast = *w.TotalAtLeast, true
	case w.Total != nil:
		r.Total = *w.Total
	}
	return nil
}
