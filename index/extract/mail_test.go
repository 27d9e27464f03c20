package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const mailHead = "From: =?utf-8?Q?J=C3=B6rg?= <j@example.org>\r\nTo: a@example.org,\r\n b@example.org\r\nSubject: =?iso-8859-1?B?R3L832U=?=\r\n =?utf-8?Q?_und_mehr?=\r\nDate: Tue, 05 Mar 2024 10:00:00 +0100\r\n"

func TestMail(t *testing.T) {
	d := wantOutline(t, "a.eml", mailHead+"Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6ne =\r\nGr=FC=DFe=ZZ\r\n",
		"Grüße und mehr: From: Jörg <j@example.org> To: a@example.org, b@example.org Date: Tue, 05 Mar 2024 10:00:00 +0100 Schöne Grüße=ZZ")
	wantMeta(t, d, "Grüße und mehr, Jörg <j@example.org>, 2024-03-05")
}

// multipart builds a mail of parts.
func multipart(media string, parts ...string) string {
	return mailHead + "Content-Type: " + media + "; boundary=\"b 1\"\r\n\r\npreamble\r\n--b 1\r\n" + strings.Join(parts, "\r\n--b 1\r\n") + "\r\n--b 1--\r\nepilogue\r\n"
}

// parts returns what a mail's text is below its header, and its members.
func parts(t *testing.T, mail string) (text string, members []string) {
	t.Helper()
	d := read(t, "a.eml", mail)
	_, text, _ = strings.Cut(fold(string(d.Text)), "+0100")
	for _, m := range d.Members {
		member := fmt.Sprint(m.Name, ": ", m.Problem)
		if m.Document != nil {
			member = m.Name + ": " + fold(m.Document.Title+" "+string(m.Document.Text))
		}
		members = append(members, member)
	}
	return strings.TrimSpace(text), members
}

func TestMailParts(t *testing.T) {
	plain, page := "Content-Type: text/plain\r\n\r\nplain", "Content-Type: text/html\r\n\r\n<style>no</style><h1>Page</h1><p>text"
	for _, c := range []struct{ mail, text, members string }{
		{multipart("multipart/alternative", plain, page), "plain", ""},
		{multipart("multipart/alternative", page, plain), "plain", ""},
		{multipart("multipart/alternative", "Content-Type: text/plain\r\n\r\n \r\n", page), "Page text", ""},
		{multipart("multipart/mixed", plain, page), "plain Page text", ""},
		{multipart("multipart/mixed", plain, "Content-Type: image/png; name=a.png\r\n\r\nx"), "plain", ""},
		{multipart("multipart/mixed", plain, "Content-Type: image/png\r\nContent-Disposition: attachment; filename=a.png\r\n\r\nx"), "plain Attachments: a.png", ""},
		{multipart("multipart/mixed", plain, "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=\"../=?utf-8?Q?=C3=BC?=.txt\"\r\nContent-Transfer-Encoding: base64\r\n\r\naW5uZX\r\nI="),
			"plain Attachments: ../ü.txt", "ü.txt: inner"},
		{multipart("multipart/mixed", plain, "Content-Type: message/rfc822\r\n\r\nSubject: inner/mail\r\n\r\nits text"), "plain Attachments: inner-mail.eml", "inner-mail.eml: inner/mail inner/mail its text"},
		{multipart("multipart/digest", "\r\nSubject: one\r\n\r\nits text"), "Attachments: one.eml", "one.eml: one one its text"},
		{multipart("multipart/mixed", plain, "Content-Type: application/x-unknown; name=\"a.bin\"\r\n\r\n\x00\x01\x02"), "plain Attachments: a.bin", "a.bin: binary: NUL byte at offset 0"},
		{multipart("multipart/mixed", "no header\r\n\r\nof any kind"), "no header of any kind", ""},
		{mailHead + "Content-Type: multipart/mixed\r\n\r\nno boundary", "no boundary", ""},
		{mailHead + "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nopen end", "open end", ""},
		{mailHead + "Content-Type: text/plain; charset=us-ascii\r\n\r\n∑ f(i)", "∑ f(i)", ""},
		{mailHead + "Content-Type: text/plain; charset=nonsense\r\n\r\ncaf\xe9 d\xe9j\xe0", "café déjà", ""},
		{mailHead + "Content-Transfer-Encoding: nonsense\r\n\r\ntext", "text", ""},
		{mailHead + "garbage line\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 a\r\n#0V%T\r\n`\r\nend\r\n", "Cat", ""},
		{mailHead + "Content-Type: <html>\r\n\r\n<html><p>page", "page", ""},
	} {
		text, members := parts(t, c.mail)
		if text != c.text || strings.Join(members, "; ") != c.members {
			t.Errorf("%q:\n%q, %q", c.mail[len(mailHead):], text, members)
		}
	}
}

// The headings of a page are below the subject.
func TestMailHeadings(t *testing.T) {
	wantOutline(t, "a.eml", "Subject: S\n\nx", "S: x")
	wantOutline(t, "a.mht", "Subject: S\nContent-Type: text/html\n\n<title>T</title><h2>H</h2>text", "S: ", "S > T: ", "S > T > H: text")
}

func TestMailIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	if d := read(t, "a.eml", "Subject: deep\n"+b.String()); d.Title != "deep" || d.Truncated == "" {
		t.Errorf("%q, %q", d.Title, d.Truncated)
	}
	d := read(t, "a.eml", "Subject: 0\n"+repeat("Content-Type: message/rfc822\n\nSubject: x\n", 50))
	for depth := 0; len(d.Members) > 0 && d.Members[0].Document != nil; depth++ {
		if d = d.Members[0].Document; depth > DefaultLimits.Depth {
			t.Fatal("deeper than the limit")
		}
	}
}

func TestMbox(t *testing.T) {
	d := read(t, "a.mbox", "From a@b Thu Jan  1 00:00:00 2026\nFrom: a\nSubject: one/x\n\nbody\n>From quoted\n>>From twice\n\nFrom here on it is text\n\nFrom b@c Thu Jan\nSubject: \n\ntwo\n")
	var names []string
	for _, m := range d.Members {
		names = append(names, m.Name)
	}
	if !slices.Equal(names, []string{"1 one-x.eml", "2.eml"}) || !strings.Contains(string(d.Members[0].Document.Text), "body\nFrom quoted\n>From twice\n\nFrom here on it is text") {
		t.Errorf("%q, %q", names, d.Members[0].Document.Text)
	}
	if d := read(t, "b.mbox", "no messages"); string(d.Text) != "no messages" {
		t.Errorf("%q", d.Text)
	}
}

func TestMailNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Mail/cur/1700000000.M1P1.host:2,S": true, "Mail/new/1700000000.M1P1.host": true, "x/1700000000.M1.host;2,": true,
		"new/1.2": false, "docs/1.2.3": false, "cur/notes.old.txt": false,
	} {
		if got := TypeOf(name) == "eml"; got != want {
			t.Errorf("%s: %s", name, TypeOf(name))
		}
	}
	if d := read(t, "a.emlx", "22\nSubject: s\n\nthe text\n\n<plist/>"); strings.Contains(string(d.Text), "plist") || d.Title != "s" {
		t.Errorf("%q", d.Text)
	}
}
