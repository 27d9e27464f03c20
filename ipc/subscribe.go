package ipc

// SubscribeParams ask for notifications on the connection: MethodChanged when
// documents have become searchable or are gone, MethodProgress while there is
// work. Folders and Path choose documents as in SearchParams.
type SubscribeParams struct {
	Folders []string `json:"folders,omitempty"`
	Path    string   `json:"path,omitempty"`
	// Since is the generation that the client knows: the first notice tells
	// what has changed since. Left out, notices tell of what comes.
	Since *uint64 `json:"since,omitempty"`
	// Instance is the one that Since was learnt from; another daemon counts
	// otherwise.
	Instance string `json:"instance,omitempty"`
	// Progress false leaves out the notices of progress.
	Progress *bool `json:"progress,omitempty"`
}

// SubscribeResult names a subscription on its connection.
type SubscribeResult struct {
	Subscription uint64 `json:"subscription"`
	// Generation is the one from which notices tell the changes.
	Generation uint64 `json:"generation"`
	// FreshStart says that what has changed since the generation asked for is
	// not known (any more): look at everything anew.
	FreshStart bool `json:"fresh_start"`
	// Instance names this run of the daemon.
	Instance string `json:"instance"`
}

// UnsubscribeParams names the subscription to end.
type UnsubscribeParams struct {
	Subscription uint64 `json:"subscription"`
}

// Changed tells how the documents differ from what the subscription's last
// notice told. Each path is in one list, in byte order.
type Changed struct {
	Subscription uint64   `json:"subscription"`
	Generation   uint64   `json:"generation"`
	Added        []string `json:"added"`
	Modified     []string `json:"modified"`
	Removed      []string `json:"removed"`
	// FreshStart says that more has changed than is told, and the lists are
	// empty: look at everything anew.
	FreshStart bool `json:"fresh_start,omitempty"`
}

// ProgressNotice tells how far the daemon has come; the last one of a piece of
// work has the state StateQuiescent.
type ProgressNotice struct {
	Subscription uint64   `json:"subscription"`
	State        string   `json:"state"`
	Pending      int      `json:"pending"`
	Progress     Progress `json:"progress"`
}
