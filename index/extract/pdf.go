package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	pdfiumlib "github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

func init() {
	raw["pdf"], parsers["pdf"] = true, parsePDF
}

const (
	// maxPages bounds the pages read of one PDF.
	maxPages = 20_000
	// maxPageChars bounds the characters read of one page.
	maxPageChars = 1 << 20
	// pdfMemory bounds what PDFium may hold, in WebAssembly pages of 64 KiB.
	pdfMemory = 1024
	// pdfPatience is longer than an instance of PDFium takes to be made.
	pdfPatience = time.Minute
)

// pdfium reads PDF files, one at a time: PDFium compiled to WebAssembly, which can
// reach nothing but the memory given to it.
var pdfium struct {
	mu   sync.Mutex // guards all fields below, and is held while a file is read
	pool pdfiumlib.Pool
	err  error
}

// PreparePDF compiles the PDF reader, which takes seconds, unless the directory
// cache has it from an earlier process; it must be the user's alone, since it holds
// native code. An empty cache means none. The first PDF does so if nobody has.
func PreparePDF(cache string) error {
	pdfium.mu.Lock()
	defer pdfium.mu.Unlock()
	return preparePDF(cache)
}

// preparePDF is PreparePDF for who holds pdfium.mu.
func preparePDF(cache string) error {
	if pdfium.pool != nil || pdfium.err != nil {
		return pdfium.err
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pdfMemory).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling)
	if cache != "" {
		compiled, err := wazero.NewCompilationCacheWithDir(cache)
		if err != nil {
			return fmt.Errorf("open the PDF reader's cache: %w", err)
		}
		config = config.WithCompilationCache(compiled)
	}
	pdfium.pool, pdfium.err = webassembly.Init(webassembly.Config{
		Context: context.Background(), MaxIdle: 1, MaxTotal: 1, ReuseWorkers: true,
		FSConfig: wazero.NewFSConfig(), // nothing of the disk
		Stdout:   io.Discard, Stderr: io.Discard, RuntimeConfig: config,
	})
	return pdfium.err
}

// ErrNeedsPDF is returned, in a process that is WithoutPDF, for a file that is a PDF
// or has one in it.
var ErrNeedsPDF = errors.New("the PDF reader is not loaded")

// WithoutPDF makes the extraction of PDF files in this process end with ErrNeedsPDF,
// so that another one, which has the reader ready, does it.
func WithoutPDF() {
	pdfium.mu.Lock()
	defer pdfium.mu.Unlock()
	pdfium.err = ErrNeedsPDF
}

// parsePDF reads the text of a PDF, page by page, as it is shown, form fields and
// annotations included.
func parsePDF(d *Document) (err error) {
	pdfium.mu.Lock()
	defer pdfium.mu.Unlock()
	if err := preparePDF(""); err != nil {
		d.budget.needsPDF = err == ErrNeedsPDF
		return fmt.Errorf("start the PDF reader: %w", err)
	}
	instance, err := pdfium.pool.GetInstance(pdfPatience)
	if err != nil {
		return fmt.Errorf("start the PDF reader: %w", err)
	}
	p := &pdfReader{pdf: instance, d: d}
	defer func() {
		if p.broken {
			_ = instance.Kill() // its memory is in no state to go on with
			return
		}
		_ = instance.Close()
	}()
	return p.read()
}

// pdfReader reads one PDF.
type pdfReader struct {
	pdf    pdfiumlib.Pdfium
	doc    references.FPDF_DOCUMENT
	d      *Document
	broken bool
	failed int   // pages that could not be read …
	why    error // … and why the first could not
}

func (p *pdfReader) read() error {
	source := p.d.Text
	opened, err := p.pdf.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(source), FileReaderSize: int64(len(source))})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return notText("encrypted: a password is needed")
	case errors.Is(err, pdferrors.ErrFormat), errors.Is(err, pdferrors.ErrFile), errors.Is(err, pdferrors.ErrPage):
		return errors.New("damaged PDF file: no pages can be found in it")
	case err != nil:
		p.broken = true
		return fmt.Errorf("damaged PDF file: %w", err)
	}
	p.doc = opened.Document
	p.describe()
	count, err := p.pdf.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: p.doc})
	if err != nil {
		p.broken = true
		return fmt.Errorf("damaged PDF file: %w", err)
	}
	p.d.Text, p.d.Extracted, p.d.Sections = nil, true, nil
	p.pages(count.PageCount)
	return p.outcome(count.PageCount)
}

// pages reads the pages up to a limit.
func (p *pdfReader) pages(count int) {
	if count > maxPages {
		p.d.truncate(fmt.Sprintf("only its first %d pages of %d were read", maxPages, count))
	}
	for n := range min(count, maxPages) {
		text, err := p.page(n)
		if err != nil && p.why == nil {
			p.why = fmt.Errorf("page %d: %w", n+1, err)
		}
		if err != nil {
			p.failed++
		}
		if p.broken {
			p.d.truncate(fmt.Sprintf("reading ended at page %d of %d: %v", n+1, count, err))
			return
		}
		if err := p.d.addPage(n+1, text); err != nil {
			p.d.truncate(err.Error())
			return
		}
	}
}

// outcome judges what was read.
func (p *pdfReader) outcome(count int) error {
	if len(bytes.TrimSpace(p.d.Text)) > 0 {
		if p.failed > 0 {
			p.d.truncate(fmt.Sprintf("%d of its %d pages could not be read: %v", p.failed, count, p.why))
		}
		return nil
	}
	if p.why != nil {
		return fmt.Errorf("damaged PDF file: %w", p.why)
	}
	if p.d.Truncated != "" {
		return fmt.Errorf("%w: %s", ErrLimit, p.d.Truncated)
	}
	return notText("no text in it: its pages are pictures or empty")
}

// page is the text of a page, from 0, with what stands in form fields after it.
func (p *pdfReader) page(n int) (text string, err error) {
	annotated := false
	err = p.onPage(n, func(page requests.Page) error {
		if text, err = p.text(page); err != nil {
			return err
		}
		count, err := p.pdf.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
		if err != nil || count.Count == 0 {
			return nil
		}
		_, err = p.pdf.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page})
		annotated = err == nil
		return nil
	})
	if err != nil || !annotated {
		return text, err
	}
	var flat string
	if p.onPage(n, func(page requests.Page) error { flat, err = p.text(page); return err }) == nil {
		text += additions(text, flat)
	}
	return text, nil
}

// onPage calls f with a page while it is loaded.
func (p *pdfReader) onPage(n int, f func(requests.Page) error) error {
	loaded, err := p.pdf.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: p.doc, Index: n})
	if err != nil {
		return p.fault(err)
	}
	defer p.pdf.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
	if err := f(requests.Page{ByReference: &loaded.Page}); err != nil {
		return p.fault(err)
	}
	return nil
}

// text is what stands on a page.
func (p *pdfReader) text(page requests.Page) (string, error) {
	loaded, err := p.pdf.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	defer p.pdf.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	chars, err := p.pdf.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil || chars.Count <= 0 || chars.Count < fewChars && p.isOutside(page, loaded.TextPage) {
		return "", err
	}
	got, err := p.pdf.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: loaded.TextPage, Count: min(chars.Count, maxPageChars)})
	if err != nil {
		return "", err
	}
	return got.Text, nil
}

// fewChars is up to how many characters a page is asked whether any is on it at all.
const fewChars = 100

// isOutside reports whether all text stands beyond the page's edges, where nobody
// sees it: programs that write pictures as PDF leave labels there.
func (p *pdfReader) isOutside(page requests.Page, text references.FPDF_TEXTPAGE) bool {
	box, err := p.pdf.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: page})
	if err != nil {
		return false
	}
	inside, err := p.pdf.FPDFText_GetBoundedText(&requests.FPDFText_GetBoundedText{
		TextPage: text, Left: float64(box.Rect.Left), Top: float64(box.Rect.Top), Right: float64(box.Rect.Right), Bottom: float64(box.Rect.Bottom),
	})
	return err == nil && strings.TrimSpace(inside.Text) == ""
}

// additions are the lines of flat that have a word which text has not.
func additions(text, flat string) string {
	known := map[string]bool{}
	for _, w := range strings.Fields(text) {
		known[w] = true
	}
	var b strings.Builder
	for line := range strings.Lines(flat) {
		for _, w := range strings.Fields(line) {
			if !known[w] && !strings.Contains(text, w) {
				b.WriteString("\n" + strings.TrimSpace(line))
				break
			}
		}
	}
	return b.String()
}

// fault tells a page that PDFium refuses from a fault in PDFium, after which
// nothing more is asked of it.
func (p *pdfReader) fault(err error) error {
	if strings.Contains(err.Error(), "wasm") || strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "malloc") {
		p.broken = true
		return errors.New("the PDF reader gave up: too large or damaged")
	}
	return err
}

// addPage appends a page as a section.
func (d *Document) addPage(n int, text string) error {
	text = splitScripts(cleanPage(text))
	if err := d.budget.keep(int64(len(text) + 1)); err != nil {
		return err
	}
	start := len(d.Text)
	d.Text = append(append(d.Text, text...), '\n')
	d.Sections = append(d.Sections, Section{Start: start, End: len(d.Text), Page: n})
	d.grown()
	return nil
}

// cleanPage joins words that PDFium says were divided at a line's end (U+0002 or
// U+FFFE before it), and drops characters that only drive a device.
func cleanPage(text string) string {
	text = strings.NewReplacer("\x02\r\n", "", "\ufffe\r\n", "", "\x02\n", "", "\r\n", "\n", "\r", "\n", "\f", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffe || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
}

// foreign finds where two scripts run into one word, as no language has it: characters
// that a font shows by codes of its own, beside others.
var foreign = regexp.MustCompile(`([\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}]{3})(\p{Latin}{3})|(\p{Latin}{3})([\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}]{3})`)

// splitScripts divides words where another script begins.
func splitScripts(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= 0x370 && r < 0x780 }) < 0 {
		return text
	}
	return foreign.ReplaceAllString(text, "$1$3 $2$4")
}

// describe takes over what the PDF says of itself.
func (p *pdfReader) describe() {
	meta := func(tag string) string {
		m, err := p.pdf.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: p.doc, Tag: tag})
		if err != nil {
			return ""
		}
		return metaLine(m.Value)
	}
	p.d.Title, p.d.Author, p.d.Date = meta("Title"), meta("Author"), pdfTime(meta("CreationDate"))
}

// maxMetaLine bounds a title and the like, in bytes.
const maxMetaLine = 1000

// metaLine makes one line of what a file says of itself, without controls.
func metaLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	for len(s) > maxMetaLine {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-max(n, 1)]
	}
	return s
}

// pdfTime reads a date as PDF has it: D:YYYYMMDDHHmmSSOHH'mm' (ISO 32000-1,
// 7.9.4), where all after the year may be missing; zero where it is none.
func pdfTime(s string) time.Time {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	for _, layout := range []string{"20060102150405-0700", "20060102150405Z0000", "20060102150405Z", "20060102150405", "200601021504", "20060102", "200601", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
