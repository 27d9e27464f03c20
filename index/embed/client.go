// Package embed asks a service for vectors: any address that speaks the
// embeddings request of OpenAI's interface, as Ollama, llama.cpp and text-embeddings-inference do. It
// remembers on disk what it was told, by the hash of the text.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options say whom to ask.
type Options struct {
	// URL is the whole address, such as http://127.0.0.1:11434/v1/embeddings.
	URL string
	// Model is the name that the service knows.
	Model string
	// Key is sent as a bearer token unless empty.
	Key string
	// QueryPrefix and PassagePrefix are put before each text: some models want them.
	QueryPrefix, PassagePrefix string
	// Batch is how many texts go into a request; 0 means 32.
	Batch int
	// Timeout bounds one request; 0 means 30 seconds.
	Timeout time.Duration
	// Dir is where what the service said is kept; "" keeps nothing.
	Dir string
}

const (
	defaultBatch   = 32
	defaultTimeout = 30 * time.Second
	// tries is how often a request is made before its failure is told.
	tries = 4
	// longestWait bounds the pause between two tries, whatever the service asks.
	longestWait = 10 * time.Second
	// maxAnswer bounds, in bytes, what is read of an answer.
	maxAnswer = 64 << 20
	// maxMessage bounds what is shown of a service's complaint.
	maxMessage = 300
)

// Client asks a service. It may be used from any goroutine.
type Client struct {
	o     Options
	http  *http.Client
	cache *cache // nil: none
	pause func(ctx context.Context, d time.Duration) error
}

// New returns a client. Nothing is sent before the first Embed. Errors: an address
// that is none; a cache that cannot be opened.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("embedding url %q is no http or https address", o.URL)
	}
	if o.Batch <= 0 {
		o.Batch = defaultBatch
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	c := &Client{o: o, pause: pause, http: &http.Client{
		Timeout: o.Timeout,
		// The key is for this address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if o.Dir != "" {
		if c.cache, err = openCache(o.Dir, c.Name()); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Close ends the use of the cache and of idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	if c.cache == nil {
		return nil
	}
	return c.cache.close()
}

// Name tells vectors of one model, address and prefix from those of others.
func (c *Client) Name() string {
	return strings.Join([]string{c.o.Model, c.o.URL, c.o.QueryPrefix, c.o.PassagePrefix}, " ")
}

// Embed returns a vector for each text, in order. Texts that were embedded before are
// not sent again. A request that fails for a reason that may pass is tried a few
// times, with growing pauses or those that the service asks for; one for a query only
// once, as somebody waits. Errors name the
// address and what it said.
func (c *Client) Embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	prefix := c.o.PassagePrefix
	if query {
		prefix = c.o.QueryPrefix
	}
	out := make([][]float32, len(texts))
	var missing []int
	for i, t := range texts {
		if out[i] = c.cache.get(prefix + t); out[i] == nil {
			missing = append(missing, i)
		}
	}
	for len(missing) > 0 {
		n := min(len(missing), c.o.Batch)
		input := make([]string, n)
		for k, i := range missing[:n] {
			input[k] = prefix + texts[i]
		}
		most := tries
		if query {
			most = 1
		}
		vectors, err := c.ask(ctx, input, most)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", c.o.URL, err)
		}
		for k, i := range missing[:n] {
			out[i] = vectors[k]
			c.cache.put(input[k], vectors[k])
		}
		missing = missing[n:]
	}
	return out, nil
}

// ask makes one request, again if it may help, most times in all.
func (c *Client) ask(ctx context.Context, input []string, most int) ([][]float32, error) {
	wait := 200 * time.Millisecond
	for try := 1; ; try++ {
		vectors, err := c.once(ctx, input)
		var passing *passingError
		if err == nil || try == most || !errors.As(err, &passing) || ctx.Err() != nil {
			return vectors, err
		}
		delay := wait + rand.N(wait) // so that clients do not come all at once
		if passing.after > 0 {
			delay = min(passing.after, longestWait)
		}
		if err := c.pause(ctx, delay); err != nil {
			return nil, err
		}
		wait *= 3
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// passingError is a failure that may be over at the next try.
type passingError struct {
	error
	after time.Duration // what the service asks to wait, or 0
}

func (e *passingError) Unwrap() error { return e.error }

type request struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Encoding string   `json:"encoding_format"`
}

type response struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

func (c *Client) once(ctx context.Context, input []string) ([][]float32, error) {
	body, err := json.Marshal(request{c.o.Model, input, "float"})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.o.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // the address is named once
			err = u.Err
		}
		return nil, &passingError{error: err}
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &passingError{error: fmt.Errorf("read the answer: %w", err)}
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("the answer is over %d bytes", maxAnswer)
	case answer.StatusCode != http.StatusOK:
		return nil, refusal(answer, data)
	}
	return vectorsOf(data, len(input))
}

// refusal is the error of a status that is not 200.
func refusal(answer *http.Response, data []byte) error {
	said := strings.Join(strings.Fields(strings.ToValidUTF8(string(data), "?")), " ")
	if len(said) > maxMessage {
		said = strings.ToValidUTF8(said[:maxMessage], "") + "…"
	}
	err := fmt.Errorf("it answers %s: %s", answer.Status, said)
	if s := answer.StatusCode; s == http.StatusTooManyRequests || s >= 500 {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return &passingError{err, time.Duration(max(seconds, 0)) * time.Second}
	}
	return err
}

// vectorsOf reads an answer of n vectors, which may come in any order.
func vectorsOf(data []byte, n int) ([][]float32, error) {
	var answer response
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("its answer is no list of embeddings: %w", err)
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("it answers %d vectors for %d texts", len(answer.Data), n)
	}
	out := make([][]float32, n)
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil || len(d.Embedding) == 0 {
			return nil, fmt.Errorf("its answer has no vector, or two, for a text (index %d)", at)
		}
		out[at] = d.Embedding
	}
	return out, nil
}
