package extract

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDump(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("DUMP")) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d, err := parseTestOffice(TypeOf(f), data)
		fmt.Printf("=== %s %v\n", f, err)
		if d == nil {
			continue
		}
		fmt.Printf("type %s title %q author %q date %v members %d trunc %q\n", d.Type, d.Title, d.Author, d.Date, len(d.Members), d.Truncated)
		for _, s := range d.Sections {
			x := string(d.Text[s.Start:s.End])
			if len(x) > 1500 {
				x = x[:1500]
			}
			fmt.Printf("--- p%d %q\n%s", s.Page, s.Heading, x)
		}
		for _, m := range d.Members {
			fmt.Println("MEMBER", m.Name, len(m.Document.Text))
		}
	}
}
