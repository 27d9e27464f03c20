// Package ipc holds what the daemon and its clients say to each other: the
// params and results of every method, the error codes and the protocol's
// version. It imports nothing of Quern, so that any client can use it.
//
// The protocol is JSON-RPC 2.0 over a Unix socket; see docs/protocol.md.
package ipc

import "encoding/json"

// ProtocolVersion is "major.minor": the major part grows when an old client
// breaks, the minor part with every other change.
const ProtocolVersion = "1.1"

// Limits of one connection. They are advertised by hello.
const (
	// MaxRequestBytes bounds one request, framing excluded.
	MaxRequestBytes = 1 << 20
	// MaxInFlight bounds the requests of a connection that are being
	// answered; further ones wait unread in the socket (back-pressure).
	MaxInFlight = 64
	// MaxSubscriptions bounds those of a connection.
	MaxSubscriptions = 16
)

// Method names.
const (
	MethodHello         = "hello"
	MethodSearch        = "search"
	MethodPassages      = "passages"
	MethodExplain       = "explain"
	MethodStatus        = "status"
	MethodSync          = "sync"
	MethodReindex       = "reindex"
	MethodReload        = "reload"
	MethodFoldersList   = "folders.list"
	MethodFoldersAdd    = "folders.add"
	MethodFoldersRemove = "folders.remove"
	MethodShutdown      = "shutdown"
	MethodVerify        = "verify"
	MethodSimilar       = "similar"
	MethodRecent        = "recent"
	MethodSchema        = "schema"
	MethodSubscribe     = "subscribe"
	MethodUnsubscribe   = "unsubscribe"
	MethodPause         = "pause"
	MethodResume        = "resume"
	// MethodCancel is a notification that cancels the request with the given id.
	MethodCancel = "$/cancelRequest"
	// MethodChanged and MethodProgress are notifications of the daemon, to
	// those that have subscribed.
	MethodChanged  = "changed"
	MethodProgress = "progress"
)

// HelloParams introduces a client. Both fields are free text for the log.
type HelloParams struct {
	Client  string `json:"client,omitempty"`
	Version string `json:"version,omitempty"`
}

// HelloResult introduces the server.
type HelloResult struct {
	Server       string   `json:"server"`
	Version      string   `json:"version"`
	Protocol     string   `json:"protocol"`
	Generation   uint64   `json:"generation"`
	Instance     string   `json:"instance"` // names this run of the daemon
	Capabilities []string `json:"capabilities"`
	Limits       Limits   `json:"limits"`
}

// Limits are the bounds of one connection.
type Limits struct {
	RequestBytes int `json:"request_bytes"`
	InFlight     int `json:"in_flight"`
	// Connections bounds those of all clients together, Subscriptions those
	// of this connection.
	Connections   int `json:"connections"`
	Subscriptions int `json:"subscriptions"`
	// K is the largest number of hits one search returns.
	K int `json:"k"`
}

// SearchParams is a query. The zero value of every field but Query means the
// daemon's default.
type SearchParams struct {
	Query    string `json:"query"`
	K        int    `json:"k,omitempty"`
	Offset   int    `json:"offset,omitempty"`
	Model    string `json:"model,omitempty"`    // best | tfidf | bm25 | hybrid
	TF       string `json:"tf,omitempty"`       // log | raw
	Collapse string `json:"collapse,omitempty"` // none (default) | document
	// Folders, Path, Types, Since and Before choose among the hits; they
	// change no score.
	Folders []string `json:"folders,omitempty"` // names of folders, or absolute paths
	Path    string   `json:"path,omitempty"`    // doublestar glob on rel; on the base name without a /, on the absolute path with one in front
	Types   []string `json:"types,omitempty"`   // "md", "txt"
	Since   string   `json:"since,omitempty"`   // RFC 3339, 2006-01-02 (local), or an age such as 7d or 36h
	Before  string   `json:"before,omitempty"`
	// Sync makes the answer see every change that was complete before the
	// request was sent.
	Sync          bool  `json:"sync,omitempty"`
	SyncTimeoutMS int   `json:"sync_timeout_ms,omitempty"` // 0: 2,000
	Budget        int   `json:"budget,omitempty"`          // tokens of four characters; as many hits as fit
	Text          *bool `json:"text,omitempty"`            // false leaves text and highlights out
	Explain       bool  `json:"explain,omitempty"`
	// Literal takes the words of the query as they are: nothing in it is an
	// operator.
	Literal bool `json:"literal,omitempty"`
	// Duplicates is "show" (default), or "fold": hits of nearly the same text as
	// a better one are listed with it.
	Duplicates string `json:"duplicates,omitempty"`
	// Session names searches that follow each other, as while somebody types: a
	// newer one cancels the older of the same session on its connection.
	Session string `json:"session,omitempty"`
}

// SearchResult is the answer to a query. On the wire (wireResult) Total is named
// total, or total_at_least.
type SearchResult struct {
	Query      string
	Model      string
	Generation uint64
	Passages   int // N, the passages in the index
	Total      int // all hits, after the filters
	// TotalAtLeast says that there may be more hits than Total.
	TotalAtLeast bool
	TookUS       int64
	Pending      int  // changes seen but not yet searchable
	Stale        bool // sync ran into its time limit
	// Suggestions are queries like this one, which found nothing, that find
	// something.
	Suggestions []string
	// Degraded is why a hybrid search had no vectors.
	Degraded string
	Hits     []Hit
}

// Hit is one passage found.
type Hit struct {
	Score      float64  `json:"score"`
	Path       string   `json:"path"`
	Folder     string   `json:"folder"`
	Rel        string   `json:"rel"`
	Passage    int      `json:"passage"`
	Lines      [2]int   `json:"lines"` // 1-based, inclusive
	Bytes      [2]int   `json:"bytes"` // half-open, in the source file
	Heading    []string `json:"heading"`
	Type       string   `json:"type"`
	Modified   string   `json:"modified"`         // RFC 3339, UTC
	Origin     string   `json:"origin,omitempty"` // "extracted": lines and bytes are those of the extracted text, not of the file
	Page       int      `json:"page,omitempty"`   // or slide, from 1
	Title      string   `json:"title,omitempty"`
	Author     string   `json:"author,omitempty"`
	Date       string   `json:"date,omitempty"` // the document's own, RFC 3339, UTC
	Text       string   `json:"text,omitempty"`
	Highlights [][2]int `json:"highlights,omitempty"` // half-open byte offsets in Text
	// Snippet is the part of Text, in half-open byte offsets, that has the most
	// of the query; absent if it has nothing of it.
	Snippet *[2]int `json:"snippet,omitempty"`
	// Duplicates are hits of nearly the same text, if they were to be folded.
	Duplicates []Duplicate  `json:"duplicates,omitempty"`
	Explain    *Explanation `json:"explain,omitempty"`
}

// Duplicate is a hit that is folded into another.
type Duplicate struct {
	Path    string `json:"path"`
	Folder  string `json:"folder"`
	Rel     string `json:"rel"`
	Passage int    `json:"passage"`
	Lines   [2]int `json:"lines"`
}

// PassagesParams names a document, or one passage of it.
type PassagesParams struct {
	Path string `json:"path"`
	N    *int   `json:"n,omitempty"`
}

// PassagesResult is a document's passages as indexed.
type PassagesResult struct {
	Path       string    `json:"path"`
	Folder     string    `json:"folder"`
	Rel        string    `json:"rel"`
	Type       string    `json:"type"`
	Title      string    `json:"title,omitempty"`
	Author     string    `json:"author,omitempty"`
	Date       string    `json:"date,omitempty"`      // the document's own, RFC 3339, UTC
	Origin     string    `json:"origin,omitempty"`    // as in Hit
	Truncated  string    `json:"truncated,omitempty"` // why a part of the document was left out
	Modified   string    `json:"modified"`
	Generation uint64    `json:"generation"`
	Passages   []Passage `json:"passages"`
}

// Passage is a span of a document as indexed.
type Passage struct {
	Passage int      `json:"passage"`
	Lines   [2]int   `json:"lines"`
	Bytes   [2]int   `json:"bytes"`
	Heading []string `json:"heading"`
	Page    int      `json:"page,omitempty"`
	Terms   int      `json:"terms"` // the passage's length |p|
	Text    string   `json:"text"`
}

// ExplainParams asks why a passage has its score.
type ExplainParams struct {
	Query   string `json:"query"`
	Path    string `json:"path"`
	Passage int    `json:"passage"`
	Model   string `json:"model,omitempty"`
	TF      string `json:"tf,omitempty"`
	Literal bool   `json:"literal,omitempty"`
}

// Explanation accounts for a score: the contributions, added in the order
// given, are the score.
type Explanation struct {
	Model         string        `json:"model"`
	TF            string        `json:"tf,omitempty"`
	Score         float64       `json:"score"`
	Passages      int           `json:"passages"`                 // N
	QueryNorm     float64       `json:"query_norm,omitempty"`     // tfidf
	PassageNorm   float64       `json:"passage_norm,omitempty"`   // tfidf
	Length        int           `json:"length"`                   // |p| in terms
	AverageLength float64       `json:"average_length,omitempty"` // bm25
	K1            float64       `json:"k1,omitempty"`             // bm25
	B             float64       `json:"b,omitempty"`              // bm25
	Terms         []TermExplain `json:"terms"`                    // in byte order
	Dropped       []string      `json:"dropped,omitempty"`        // query terms that no passage contains
	// Demands are what the query asks of a passage besides its score: one that
	// does not meet them all is no hit.
	Demands []DemandExplain `json:"demands,omitempty"`
	// Closely: the passage is one of the 100 that the model best looks at
	// closely, and Bonuses is what that adds to the terms' contributions.
	Closely *bool `json:"closely,omitempty"` // best
	// Hybrid is what is made of the lexical score, to which the terms and bonuses
	// add up.
	Lexical string         `json:"lexical,omitempty"` // hybrid: the lexical model
	Hybrid  *HybridExplain `json:"hybrid,omitempty"`  // hybrid
	Bonuses []BonusExplain `json:"bonuses,omitempty"` // best
}

// DemandExplain says of a part of the query whether the passage meets it.
type DemandExplain struct {
	Clause string `json:"clause"`
	Met    bool   `json:"met"`
}

// HybridExplain makes a score: lexical / lexical_best + weight · max(0, cosine) /
// cosine_best, in which the best are the greatest of all passages that may be found.
type HybridExplain struct {
	Lexical     float64 `json:"lexical"`
	LexicalBest float64 `json:"lexical_best"`
	Cosine      float64 `json:"cosine"`
	CosineBest  float64 `json:"cosine_best"`
	Weight      float64 `json:"weight"`
}

// BonusExplain is what the model best adds to a score: weight · idf · tf / (tf +
// length).
type BonusExplain struct {
	Kind         string  `json:"kind"` // heading | pair | part
	Name         string  `json:"name"` // the term, or the two terms
	TF           int     `json:"tf"`
	Weight       float64 `json:"weight"`
	IDF          float64 `json:"idf"`
	Length       float64 `json:"length"`
	Contribution float64 `json:"contribution"`
}

// TermExplain is one query term's part in a score.
type TermExplain struct {
	Term          string  `json:"term"`
	QueryTF       int     `json:"query_tf"`
	TF            int     `json:"tf"`
	DF            int     `json:"df"`
	IDF           float64 `json:"idf"`
	QueryWeight   float64 `json:"query_weight"`   // before normalising
	PassageWeight float64 `json:"passage_weight"` // before normalising
	Contribution  float64 `json:"contribution"`
	// From are the prefixes and fuzzy words that the term is an expansion of,
	// and Boost is what its weight in the query was multiplied by; 0 stands for
	// 1.
	From  []string `json:"from,omitempty"`
	Boost float64  `json:"boost,omitempty"`
}

// StatusParams asks for the daemon's state, or for one file's.
type StatusParams struct {
	Path string `json:"path,omitempty"`
}

// File states.
const (
	FileIndexed = "indexed"
	FilePending = "pending"
	FileSkipped = "skipped"
	FileFailed  = "failed"
	FileUnknown = "unknown"
)

// FileStatus is what is known of one file.
type FileStatus struct {
	Path     string `json:"path"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Folder   string `json:"folder,omitempty"`
	Passages int    `json:"passages,omitempty"`
	Modified string `json:"modified,omitempty"`
	Size     int64  `json:"size,omitempty"`
}

// Daemon states.
const (
	StateScanning  = "scanning"  // a scan of a folder is running
	StateIndexing  = "indexing"  // changes wait to become searchable
	StateQuiescent = "quiescent" // every change seen is applied
)

// StatusResult is the daemon's state.
type StatusResult struct {
	State       string         `json:"state"`
	Version     string         `json:"version"`
	PID         int            `json:"pid"`
	Started     string         `json:"started"`
	Generation  uint64         `json:"generation"`
	Config      string         `json:"config"`                 // path of the config file
	ConfigError string         `json:"config_error,omitempty"` // a bad edit; the old config is in force
	Socket      string         `json:"socket"`
	Folders     []FolderStatus `json:"folders"`
	Files       FileCounts     `json:"files"`
	Passages    int            `json:"passages"`
	Terms       int            `json:"terms"`
	Index       IndexStatus    `json:"index"`
	// Embedding is there once anybody has asked for hybrid ranking.
	Embedding *EmbeddingStatus `json:"embedding,omitempty"`
	Model     string           `json:"model"`
	Pending   int              `json:"pending"` // changes seen but not yet searchable
	Progress  Progress         `json:"progress"`
	// FirstIndexing: not every file that stood in the folders at the start
	// is searchable yet.
	FirstIndexing bool      `json:"first_indexing,omitempty"`
	Paused        *Paused   `json:"paused,omitempty"`
	Freshness     Freshness `json:"freshness"`
	Watches       Watches   `json:"watches"`
	Memory        int64     `json:"memory_bytes"`
	// Problems are files that failed, then those that were skipped, by path;
	// the list is cut at 1,000, Files has the whole counts.
	Problems []FileStatus     `json:"problems"`
	Warnings []string         `json:"warnings,omitempty"`
	Counters map[string]int64 `json:"counters,omitempty"`
	File     *FileStatus      `json:"file,omitempty"` // the answer to StatusParams.Path
}

// EmbeddingStatus tells of the vectors of hybrid ranking.
type EmbeddingStatus struct {
	Name       string `json:"name,omitempty"` // of the model
	Dimensions int    `json:"dimensions,omitempty"`
	Embedded   int    `json:"embedded"`          // passages that have a vector
	Lacking    int    `json:"lacking"`           // passages that have none yet
	Learned    int    `json:"learned,omitempty"` // passages there were when the model was learned
	Error      string `json:"error,omitempty"`
}

// IndexStatus tells of the index on disk.
type IndexStatus struct {
	Segments  int   `json:"segments"`      // on disk and in memory
	Dead      int   `json:"dead_passages"` // of deleted text, not yet merged away
	DiskBytes int64 `json:"disk_bytes"`
	// Committed is the generation that a crash would leave, CommittedAt when it
	// was made durable; the files on disk have what came later.
	Committed   uint64 `json:"committed"`
	CommittedAt string `json:"committed_at,omitempty"` // RFC 3339
}

// FileCounts counts the files known, by state.
type FileCounts struct {
	Indexed int `json:"indexed"`
	Pending int `json:"pending"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
}

// Progress tells how far catching up has come.
type Progress struct {
	Done        int     `json:"done"`  // files since the daemon was last quiescent
	Total       int     `json:"total"` // of so many known
	BytesDone   int64   `json:"bytes_done"`
	FilesPerSec float64 `json:"files_per_second"`
	SecondsLeft float64 `json:"seconds_left,omitempty"`
}

// FolderStatus is one watched folder.
type FolderStatus struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	State     string `json:"state"` // watching | scanning | polled | suspended
	Reason    string `json:"reason,omitempty"`
	Temporary bool   `json:"temporary,omitempty"` // for this daemon's life, not in the config
	Documents int    `json:"documents"`
	Passages  int    `json:"passages"`
	// WhenAbsent is what becomes of the passages while the folder is suspended,
	// unless they stay searchable: hide or drop.
	WhenAbsent string `json:"when_absent,omitempty"`
	// Polled is the number of directories that are looked at in turn since they
	// cannot be watched, PolledAt some of them, at most 20.
	Polled   int      `json:"polled,omitempty"`
	PolledAt []string `json:"polled_at,omitempty"`
}

// Freshness has the three clocks by which changes are found: events, a scan of
// everything after events were lost, and an audit for what no event tells of. The
// times are RFC 3339, empty for never.
type Freshness struct {
	SettleMS   int64  `json:"settle_ms"` // from a file's last event until it is read
	LastEvent  string `json:"last_event,omitempty"`
	LastLost   string `json:"last_lost,omitempty"`   // events were lost
	LastRescan string `json:"last_rescan,omitempty"` // and all had been scanned
	LastAudit  string `json:"last_audit,omitempty"`  // the last whole audit ended
	LastRehash string `json:"last_rehash,omitempty"` // all files were read and compared
}

// Watches are the directories watched, and how many the system allows all
// programs of the user, 0 where that is not known.
type Watches struct {
	Used  int `json:"used"`
	Limit int `json:"limit,omitempty"`
}

// Paused tells that nothing is indexed at present.
type Paused struct {
	Reason string `json:"reason"`          // asked for | on battery
	Until  string `json:"until,omitempty"` // RFC 3339, where it is known
}

// PauseParams names the length of a pause; 0 means until it is resumed.
type PauseParams struct {
	Seconds float64 `json:"seconds,omitempty"`
}

// PauseResult is the pause that is in force, if one is.
type PauseResult struct {
	Paused *Paused `json:"paused,omitempty"`
}

// SyncParams bounds the wait; 0 means the daemon's default of 10 seconds.
type SyncParams struct {
	TimeoutMS int `json:"timeout_ms,omitempty"`
}

// SyncResult names the generation in which every earlier change is searchable.
type SyncResult struct {
	Generation uint64 `json:"generation"`
}

// ReindexParams names a file or a directory that is to be read anew.
type ReindexParams struct {
	Path string `json:"path"`
}

// ReindexResult names the generation in which the path's new state is searchable.
type ReindexResult struct {
	Generation uint64 `json:"generation"`
}

// VerifyParams asks for a proof of the index against the files.
type VerifyParams struct {
	// Repair has the files that differ read again.
	Repair bool `json:"repair,omitempty"`
}

// VerifyResult tells what was compared and what differs.
type VerifyResult struct {
	Generation uint64 `json:"generation"`
	Documents  int    `json:"documents"` // compared with their files
	Passages   int    `json:"passages"`
	// Index says what of the index contradicts itself; empty when all agrees.
	Index string `json:"index,omitempty"`
	// Differences are files whose document in the index is missing, stale or
	// too many, each with its reason.
	Differences []FileStatus `json:"differences"`
	// Repaired: a second look found no difference left.
	Repaired bool `json:"repaired,omitempty"`
}

// FolderParams names a folder to add or to remove.
type FolderParams struct {
	Path string `json:"path"`           // to remove: or its name
	Name string `json:"name,omitempty"` // to add; default: the path's last element
	// Temporary adds the folder for this daemon's life only: the config
	// file stays as it is.
	Temporary bool `json:"temporary,omitempty"`
}

// FoldersResult lists the folders after the change.
type FoldersResult struct {
	Folders []FolderStatus `json:"folders"`
}

// Empty is the params or the result of a method that has none.
type Empty struct{}

// CancelParams names the request to cancel.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

// IsRepeatable reports whether a method can be carried out twice without harm: it
// changes nothing, or the second time nothing more.
func IsRepeatable(method string) bool {
	switch method {
	case MethodShutdown, MethodFoldersAdd, MethodFoldersRemove, MethodSubscribe, MethodUnsubscribe:
		return false
	}
	return true
}
