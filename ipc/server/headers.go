package server

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"quern/ipc"
)

// maxHeaderBytes bounds the headers of one message.
const maxHeaderBytes = 4 << 10

// headers is the framing of the Language Server Protocol: lines of
// "Name: value", an empty line, and as many bytes as Content-Length says.
type headers struct{ *source }

func (h headers) next() ([]byte, error) {
	if err := h.skipSpace(); err != nil {
		return nil, err
	}
	n, err := h.contentLength()
	if err != nil {
		return nil, cutShort(err)
	}
	if n > h.limit {
		return nil, errTooLong(h.limit)
	}
	return h.body(n)
}

// body reads n bytes. Memory is taken as they come, not as they are announced.
func (s *source) body(n int) ([]byte, error) {
	in := intake{s: s}
	for len(in.data) < n {
		chunk, err := s.buffered()
		if err != nil {
			return in.fail(cutShort(err))
		}
		chunk = chunk[:min(len(chunk), n-len(in.data))]
		if err := in.add(chunk); err != nil {
			return in.fail(err)
		}
		s.discard(len(chunk))
	}
	return in.data, nil
}

// contentLength reads the headers of one message, the empty line included.
func (h headers) contentLength() (int, error) {
	length, room := -1, maxHeaderBytes
	for {
		line, err := h.line(&room, maxHeaderBytes)
		if err != nil {
			return 0, err
		}
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return 0, ipc.Errorf(ipc.CodeParse, "parse error: the header line %q has no colon", line)
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if length >= 0 {
			return 0, ipc.Errorf(ipc.CodeParse, "parse error: the header Content-Length comes twice")
		}
		if length, err = parseLength(strings.TrimSpace(value)); err != nil {
			return 0, err
		}
	}
	if length < 0 {
		return 0, ipc.Errorf(ipc.CodeParse, "parse error: the headers have no Content-Length")
	}
	return length, nil
}

// parseLength reads decimal digits and nothing else. A length past any limit
// is as good as any other that is too long.
func parseLength(s string) (int, error) {
	digits := strings.Trim(s, "0123456789") == ""
	n, err := strconv.ParseUint(s, 10, 31)
	switch {
	case s == "" || !digits:
		return 0, ipc.Errorf(ipc.CodeParse, "parse error: Content-Length %q is not a number", s)
	case err != nil:
		return 1<<31 - 1, nil
	}
	return int(n), nil
}

// line reads one header line without its end; room is what the headers may
// still take of limit bytes.
func (s *source) line(room *int, limit int) (string, error) {
	var line []byte
	for {
		chunk, err := s.buffered()
		if err != nil {
			return "", err
		}
		end := bytes.IndexByte(chunk, '\n')
		if end >= 0 {
			chunk = chunk[:end+1]
		}
		if *room -= len(chunk); *room < 0 {
			return "", ipc.Errorf(ipc.CodeParse, "parse error: the headers are longer than %d bytes", limit)
		}
		line = append(line, chunk...)
		s.discard(len(chunk))
		if end >= 0 {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
	}
}

// cutShort is err, where the end of the connection is one: in the middle of
// a message.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return ipc.Errorf(ipc.CodeParse, "parse error: the connection ends in the middle of a message")
	}
	return err
}

func (headers) frame(payload []byte) []byte {
	b := make([]byte, 0, len("Content-Length: \r\n\r\n")+20+len(payload))
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, payload...)
}
