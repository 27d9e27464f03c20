package extract

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// parseMbox reads a mailbox (RFC 4155, with the quoting of mboxrd): each message
// is a member, named by its number and subject.
func parseMbox(d *Document) error {
	messages := mboxMessages(d.Text)
	if len(messages) == 0 {
		d.Type = "txt"
		if err := readText(d); err != nil {
			return err
		}
		return parsePlain(d)
	}
	d.Text, d.Extracted = nil, true
	for i, m := range messages {
		subject := clip(strings.ReplaceAll(readPart(m).text("Subject"), "/", "-"))
		if len(subject) > maxSubject {
			subject = strings.ToValidUTF8(subject[:maxSubject], "")
		}
		name := strings.TrimSpace(fmt.Sprintf("%d %s", i+1, subject)) + ".eml"
		if err := d.addMember(name, bytes.NewReader(unquoted(m))); err != nil {
			d.Truncated = err.Error()
			break
		}
	}
	return parsePlain(d)
}

// maxSubject is how much of a subject is in a message's name, in bytes.
const maxSubject = 80

// mboxMessages returns the messages between the lines that begin with From: one
// begins the text or stands behind a blank line, and a field follows.
func mboxMessages(text []byte) [][]byte {
	var out [][]byte
	start, blank := -1, true
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := text[at:end]
		if blank && bytes.HasPrefix(line, []byte("From ")) && fieldFollows(text[end:]) {
			if start >= 0 {
				out = append(out, text[start:at])
			}
			start = end
		}
		blank = len(bytes.TrimRight(line, "\r\n")) == 0
		at = end
	}
	if start >= 0 {
		out = append(out, text[start:])
	}
	return out
}

// fieldFollows says that a header begins, as far as its first line shows.
func fieldFollows(rest []byte) bool {
	line, _, _ := bytes.Cut(rest[:min(len(rest), 1000)], []byte("\n"))
	name, _, ok := bytes.Cut(line, []byte(":"))
	return ok && fieldName(name) || bytes.HasPrefix(line, []byte(">From "))
}

var quotedFrom = regexp.MustCompile(`(?m)^>(>*From )`)

// unquoted drops one > of the lines whose From had to be quoted.
func unquoted(message []byte) []byte {
	if !bytes.Contains(message, []byte(">From ")) {
		return message
	}
	return quotedFrom.ReplaceAll(message, []byte("$1"))
}

var maildirName = regexp.MustCompile(`^\d+\.[^/]+$`)

// isMaildir says that a file is a message by its place and name in a Maildir.
func isMaildir(name string) bool {
	base := filepath.Base(name)
	if strings.Contains(base, ":2,") || strings.Contains(base, ";2,") {
		return maildirName.MatchString(base)
	}
	dir := filepath.Base(filepath.Dir(name))
	return (dir == "new" || dir == "cur") && maildirName.MatchString(base) && strings.Count(base, ".") >= 2
}

// parseEmlx reads a message as Apple's Mail keeps it: its length on a line of its
// own in front, and a property list behind.
func parseEmlx(d *Document) error {
	line, rest, _ := bytes.Cut(d.Text, []byte("\n"))
	n := 0
	if _, err := fmt.Sscanf(string(line[:min(len(line), 20)]), "%d", &n); err == nil && n > 0 && n <= len(rest) {
		d.Text = rest[:n]
	}
	return parseMail(d)
}
