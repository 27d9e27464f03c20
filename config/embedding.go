package config

import (
	"net/url"
	"time"
)

// Embedding is the [embedding] table: what makes the vectors of hybrid ranking.
type Embedding struct {
	Kind string // lsa: learned from the index itself | http: a service at URL
	URL  string // of an embeddings request, as http://127.0.0.1:11434/v1/embeddings
	// Model is the name that the service knows.
	Model string
	// KeyFile holds the service's key; empty for none.
	KeyFile string
	// QueryPrefix and PassagePrefix are put before each text.
	QueryPrefix, PassagePrefix string
	Batch                      int // texts in a request
	Timeout                    time.Duration
}

// Kinds of Embedding.
const (
	EmbeddingLSA  = "lsa"
	EmbeddingHTTP = "http"
)

func (t *table) embedding(e *Embedding) {
	t.enum("kind", &e.Kind, EmbeddingLSA, EmbeddingHTTP)
	t.str("url", &e.URL)
	t.str("model", &e.Model)
	t.path("key_file", &e.KeyFile)
	t.str("query_prefix", &e.QueryPrefix)
	t.str("passage_prefix", &e.PassagePrefix)
	t.integer("batch", &e.Batch, 1)
	t.duration("timeout", &e.Timeout, time.Millisecond)
	switch {
	case e.Kind == EmbeddingLSA && (e.URL != "" || e.Model != ""):
		t.fail(t.given("url", "model"), `is of use with kind = "http" only`)
	case e.Kind == EmbeddingHTTP && e.URL == "":
		t.fail("url", `must be given with kind = "http", such as "http://127.0.0.1:11434/v1/embeddings"`)
	case e.Kind == EmbeddingHTTP && e.Model == "":
		t.fail("model", `must be given with kind = "http": the name that the service knows`)
	case e.Kind == EmbeddingHTTP && !isAddress(e.URL):
		t.fail("url", "must be an http or https address (got %q)", e.URL)
	}
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
