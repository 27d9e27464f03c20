package extract

import (
	"net/mail"
	"strings"
	"time"
)

// metaData is what a document says of itself.
type metaData struct {
	title, author string
	date          time.Time
}

// authorKeys and dateKeys are what pages name the two.
var (
	authorKeys = setOf("author dc.creator dcterms.creator article:author creator byl citation_author parsely-author")
	dateKeys   = setOf(`date dc.date dcterms.created dcterms.date dcterms.issued article:published_time pubdate publish-date
		citation_publication_date citation_date last-modified parsely-pub-date datepublished`)
)

// meta reads a meta element of a page. A description is text, before the page's own.
func (r *htmlReader) meta(attributes map[string]string) {
	content := fold(attributes["content"])
	key := ""
	for _, k := range []string{"name", "property", "itemprop", "http-equiv"} {
		if key == "" {
			key = strings.ToLower(attributes[k])
		}
	}
	switch {
	case content == "":
	case authorKeys[key] && r.author == "":
		r.author = content
	case dateKeys[key] && r.date.IsZero():
		r.date = readDate(content)
	case key == "description" || key == "keywords":
		r.para()
		r.text(content)
		r.para()
	}
}

// metaLayouts are how documents write dates, mails aside.
var metaLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "20060102",
	"January 2, 2006", "2 January 2006", "Jan 2, 2006", "2 Jan 2006", "02.01.2006", "2.1.2006", "2006-01", "2006", time.ANSIC, time.UnixDate,
}

// readDate reads a date in any common form; it returns the zero time for others.
func readDate(s string) time.Time {
	s = strings.TrimSpace(s)
	if len(s) < 4 || len(s) > 64 {
		return time.Time{}
	}
	for _, layout := range metaLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	if t, err := mail.ParseDate(s); err == nil {
		return t
	}
	return time.Time{}
}
