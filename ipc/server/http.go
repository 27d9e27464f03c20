package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"quern/ipc"
	"quern/ipc/internal/sock"
)

// maxHTTPHeaderBytes bounds the request line and the headers of one request.
const maxHTTPHeaderBytes = 16 << 10

// httpPrefix begins the path of every request.
const httpPrefix = "/v1/"

// hosts are the names by which a client may call the daemon. A browser that was
// led here through a proxy calls it by another.
var hosts = []string{"", "localhost", "quern", "unix", "127.0.0.1", "[::1]"}

// readHTTP answers HTTP/1.1 requests, one after the other as HTTP has it, until
// the client or the server wants no more. net/http parses the headers; its server
// is not used, because the bounds, the draining and the leave-taking here are
// those of the other framings.
func (c *conn) readHTTP() error {
	for {
		req, err := c.src.httpHeader()
		if err != nil {
			return err
		}
		status, fault := c.checkHTTP(req)
		if fault != nil {
			// What follows may be a body: the connection cannot go on.
			c.sendHTTP(outcome{err: fault}, status, "close")
			c.linger()
			return io.EOF
		}
		body, err := c.httpBody(req)
		if err != nil {
			return err
		}
		if !c.answerHTTP(req, body) {
			return io.EOF
		}
	}
}

// httpHeader reads the request line and the headers.
func (s *source) httpHeader() (*http.Request, error) {
	if err := s.skipSpace(); err != nil {
		return nil, err
	}
	var head bytes.Buffer
	for room := maxHTTPHeaderBytes; ; {
		line, err := s.line(&room, maxHTTPHeaderBytes)
		if err != nil {
			return nil, cutShort(err)
		}
		head.WriteString(line + "\r\n")
		if line == "" {
			break
		}
	}
	req, err := http.ReadRequest(bufio.NewReader(&head))
	if err != nil {
		return nil, ipc.Errorf(ipc.CodeParse, "parse error: not an HTTP request: %v", err)
	}
	return req, nil
}

// checkHTTP refuses what no client of this socket sends, browsers above all.
func (c *conn) checkHTTP(req *http.Request) (status int, fault *ipc.Error) {
	for _, name := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
		if _, ok := req.Header[name]; ok {
			return http.StatusForbidden, ipc.Errorf(ipc.CodeNotPermitted,
				"not permitted: the request has the header %s, so it comes from a web page", name)
		}
	}
	host := strings.ToLower(req.Host)
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	switch {
	case !slices.Contains(hosts, host):
		return http.StatusForbidden, ipc.Errorf(ipc.CodeNotPermitted,
			"not permitted: this is not host %q (use http://localhost/v1/METHOD)", req.Host)
	case req.ProtoMajor != 1:
		return http.StatusHTTPVersionNotSupported, ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: only HTTP/1.1 is spoken here")
	case len(req.TransferEncoding) > 0:
		return http.StatusLengthRequired, ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: a body needs a Content-Length")
	case req.ContentLength > int64(c.src.limit):
		return http.StatusRequestEntityTooLarge, errTooLong(c.src.limit)
	}
	return 0, nil
}

func (c *conn) httpBody(req *http.Request) ([]byte, error) {
	n := int(max(0, req.ContentLength))
	if n > 0 && strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
		c.writeRaw([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
	return c.src.body(n)
}

// answerHTTP answers one request and reports whether the connection goes on.
func (c *conn) answerHTTP(req *http.Request, body []byte) bool {
	defer c.s.budget.give(counted(len(body)))
	connection := ""
	switch {
	case req.Close:
		connection = "close"
	case req.ProtoMinor == 0:
		connection = "keep-alive"
	}
	r, status, fault := c.httpRequest(req, body)
	if fault != nil {
		c.sendHTTP(outcome{err: fault}, status, connection)
		return !req.Close
	}
	held := c.reserve(1)
	ended := make(chan struct{})
	c.start(r, func(o outcome, k *call) {
		o = held.keep(o)
		status := http.StatusOK
		if o.err != nil {
			status = httpStatus(o.err.Code)
		}
		c.sendHTTP(o, status, connection)
		held.release()
		k.end()
		close(ended)
	})
	c.watchHTTP(ended)
	return !req.Close
}

// watchHTTP waits for the end of a request, and cancels it when the client has
// gone: nothing else reads meanwhile.
func (c *conn) watchHTTP(ended <-chan struct{}) {
	tick := time.NewTicker(hangupPoll)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			if sock.HungUp(c.nc) {
				c.cancel(errGone)
			}
		}
	}
}

// httpRequest finds the method and its params.
func (c *conn) httpRequest(req *http.Request, body []byte) (request, int, *ipc.Error) {
	name, ok := strings.CutPrefix(req.URL.Path, httpPrefix)
	if !ok || name == "" {
		return request{}, http.StatusNotFound, ipc.Errorf(ipc.CodeMethodNotFound, "nothing is at %q (use %sMETHOD)", req.URL.Path, httpPrefix)
	}
	m, known := c.s.method(name)
	r := request{method: name, params: bytes.TrimSpace(body)}
	switch {
	case !known:
		return r, http.StatusNotFound, ipc.Errorf(ipc.CodeMethodNotFound, "unknown method %q", name)
	case req.Method == http.MethodPost && req.URL.RawQuery == "":
		return r, 0, nil
	case req.Method == http.MethodPost:
		return r, http.StatusBadRequest, ipc.Errorf(ipc.CodeInvalidParams, "invalid params: those of a POST are its body, a JSON object")
	case req.Method != http.MethodGet || !m.readOnly:
		return r, http.StatusMethodNotAllowed, ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: %s does not do for %s (use POST)", req.Method, name)
	case len(r.params) > 0:
		return r, http.StatusBadRequest, ipc.Errorf(ipc.CodeInvalidParams, "invalid params: those of a GET are in its URL, not in a body")
	}
	params, err := queryParams(req.URL.RawQuery, m.types.Params)
	if err != nil {
		return r, http.StatusBadRequest, ipc.Errorf(ipc.CodeInvalidParams, "invalid params: %v", err)
	}
	r.params = params
	return r, 0, nil
}

// sendHTTP writes a response: the result, or the error as {"error": …}. The
// connection header is left out when it is "".
func (c *conn) sendHTTP(o outcome, status int, connection string) {
	body := o.result
	if o.err != nil {
		// Without its data, which is then no JSON, it can always be encoded.
		var err error
		if body, err = encode(map[string]*ipc.Error{"error": o.err}); err != nil {
			body, _ = encode(map[string]*ipc.Error{"error": {Code: o.err.Code, Message: o.err.Message}})
		}
	}
	b := make([]byte, 0, len(body)+256)
	b = fmt.Appendf(b, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n", status, http.StatusText(status))
	b = append(b, "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"...)
	switch status {
	case http.StatusMethodNotAllowed:
		b = append(b, "Allow: POST\r\n"...)
	case http.StatusServiceUnavailable:
		b = append(b, "Retry-After: 1\r\n"...)
	}
	if connection != "" {
		b = append(b, "Connection: "+connection+"\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)+1), 10)
	b = append(b, "\r\n\r\n"...)
	b = append(b, body...)
	c.writeRaw(append(b, '\n'))
}

// statusCancelled is what others use for a request that its client gave up.
const statusCancelled = 499

// httpStatus is the status that goes with an error code.
func httpStatus(code int) int {
	switch code {
	case ipc.CodeParse, ipc.CodeInvalidRequest, ipc.CodeInvalidParams, ipc.CodeBadQuery:
		return http.StatusBadRequest
	case ipc.CodeMethodNotFound, ipc.CodeNotFound:
		return http.StatusNotFound
	case ipc.CodeNotPermitted:
		return http.StatusForbidden
	case ipc.CodeBusy, ipc.CodeShuttingDown:
		return http.StatusServiceUnavailable
	case ipc.CodeTimeout:
		return http.StatusGatewayTimeout
	case ipc.CodeCancelled:
		return statusCancelled
	}
	return http.StatusInternalServerError
}

// httpFault is the status for a client that is cut off.
func httpFault(fault *ipc.Error) int { return httpStatus(fault.Code) }
