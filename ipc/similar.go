package ipc

// SimilarParams ask for passages like a passage, a document or a text. Of Path
// and Text one is set. What is not explained is as in SearchParams.
type SimilarParams struct {
	Path string `json:"path,omitempty"` // a document
	// Line, from 1, chooses the document's passage that has the line; Passage
	// chooses it by its number, from 0. Without either it is the whole document.
	Line    int    `json:"line,omitempty"`
	Passage *int   `json:"passage,omitempty"`
	Text    string `json:"text,omitempty"`

	K             int      `json:"k,omitempty"`
	Offset        int      `json:"offset,omitempty"`
	Model         string   `json:"model,omitempty"`
	TF            string   `json:"tf,omitempty"`
	Collapse      string   `json:"collapse,omitempty"`
	Folders       []string `json:"folders,omitempty"`
	Types         []string `json:"types,omitempty"`
	Since         string   `json:"since,omitempty"`
	Before        string   `json:"before,omitempty"`
	Sync          bool     `json:"sync,omitempty"`
	SyncTimeoutMS int      `json:"sync_timeout_ms,omitempty"`
	Budget        int      `json:"budget,omitempty"`
	Session       string   `json:"session,omitempty"`
}

// RecentParams ask for the documents that were changed lately. Folders, Path,
// Types, Since and Before choose as in SearchParams.
type RecentParams struct {
	Since   string   `json:"since,omitempty"`
	Before  string   `json:"before,omitempty"`
	K       int      `json:"k,omitempty"` // 0: 10
	Offset  int      `json:"offset,omitempty"`
	Folders []string `json:"folders,omitempty"`
	Path    string   `json:"path,omitempty"`
	Types   []string `json:"types,omitempty"`
	// Sync and SyncTimeoutMS are as in SearchParams.
	Sync          bool `json:"sync,omitempty"`
	SyncTimeoutMS int  `json:"sync_timeout_ms,omitempty"`
}

// RecentResult has the documents, newest first, those of the same instant by
// path.
type RecentResult struct {
	Generation uint64     `json:"generation"`
	Total      int        `json:"total"`   // all that the filters chose
	Pending    int        `json:"pending"` // changes seen but not yet searchable
	Stale      bool       `json:"stale,omitempty"`
	Documents  []Document `json:"documents"`
}

// Document is what the index knows of a document beside its passages.
type Document struct {
	Path     string `json:"path"`
	Folder   string `json:"folder"`
	Rel      string `json:"rel"`
	Type     string `json:"type"`
	Title    string `json:"title,omitempty"`
	Modified string `json:"modified"` // of the file; RFC 3339, UTC
	Size     int64  `json:"size"`     // of the file, in bytes
	Passages int    `json:"passages"`
}
