package extract

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// fewWords is below how many words a file says nothing of agreement.
const fewWords = 20

// The text of PDF files agrees with what poppler's pdftotext finds in them: word by
// word, F1 ≥ .97 in the median. QUERN_FILES names a folder with PDF files.
func TestPDFAgreesWithPdftotext(t *testing.T) {
	dir := os.Getenv("QUERN_FILES")
	if dir == "" {
		t.Skip("QUERN_FILES names no folder with PDF files")
	}
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext (poppler-utils) is not installed")
	}
	if err := PreparePDF(""); err != nil {
		t.Fatal(err)
	}
	var scores []float64
	var ours, theirs time.Duration
	pages := 0
	for _, path := range pdfFiles(t, dir) {
		began := time.Now()
		want, err := exec.CommandContext(context.Background(), "pdftotext", "-q", path, "-").Output()
		other := time.Since(began)
		if err != nil || len(strings.Fields(string(want))) < fewWords {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		d, err := Extract(path, data)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		ours, theirs, pages = ours+time.Since(began), theirs+other, pages+len(d.Sections)
		score := wordF1(string(d.Text), string(want))
		t.Logf("%.3f %s", score, filepath.Base(path))
		scores = append(scores, score)
	}
	if len(scores) == 0 {
		t.Fatalf("no PDF with %d words or more under %s", fewWords, dir)
	}
	slices.Sort(scores)
	median := (scores[(len(scores)-1)/2] + scores[len(scores)/2]) / 2
	t.Logf("%d files, %d pages: median F1 %.3f; a page %v, pdftotext %v (with its start)", len(scores), pages, median,
		(ours / time.Duration(pages)).Round(time.Microsecond), (theirs / time.Duration(pages)).Round(time.Microsecond))
	if median < .97 {
		t.Errorf("median F1 %.3f", median)
	}
}

func pdfFiles(t *testing.T, dir string) (out []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".pdf") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wordF1 is the harmonic mean of precision and recall over the words, each as often
// as it stands.
func wordF1(got, want string) float64 {
	a, b := wordList(got), wordList(want)
	count := map[string]int{}
	for _, w := range b {
		count[w]++
	}
	both := 0
	for _, w := range a {
		if count[w] > 0 {
			count[w]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

func wordList(s string) []string {
	return strings.FieldsFunc(strings.ToLower(norm.NFKC.String(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
