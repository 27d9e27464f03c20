package eval

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The picture's measures in pixels.
const (
	svgWidth, svgHeight = 640, 400
	svgLeft, svgRight   = 50, 20
	svgTop, svgBottom   = 40, 50
)

// svgColours tell models apart, also for those who see few colours (Okabe & Ito,
// 2008).
var svgColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// WriteSVG draws recall (solid) and precision (dashed) of every model over k.
func (r *Report) WriteSVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", svgWidth, svgHeight)
	title := fmt.Sprintf("%s: recall (solid) and precision (dashed) at k, %d questions", r.Set, r.Questions)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", escape(title))
	text(&b, svgLeft, svgTop-20, "start", title)
	r.axes(&b)
	for i := range r.Models {
		m := &r.Models[i]
		colour := svgColours[i%len(svgColours)]
		m.line(&b, colour, "", func(p Point) float64 { return p.Recall })
		m.line(&b, colour, ` stroke-dasharray="5 4"`, func(p Point) float64 { return p.Precision })
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", m.x(m.Elbow), svgY(m.Curve[m.Elbow-1].Recall), colour)
		x, y := svgWidth-svgRight-150, svgTop+20+18*i
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="3" fill="%s"/>`+"\n", x, y-5, colour)
		text(&b, float64(x+18), float64(y), "start", fmt.Sprintf("%s, recall levels off at %d", cmpName(m.Model), m.Elbow))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// cmpName names a model; the default one has no name of its own.
func cmpName(model string) string {
	if model == "" {
		return "default"
	}
	return model
}

func (r *Report) axes(b *strings.Builder) {
	for i := 0; i <= 5; i++ {
		value := float64(i) / 5
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`+"\n", svgLeft, svgY(value), svgWidth-svgRight, svgY(value))
		text(b, svgLeft-8, svgY(value)+4, "end", fmt.Sprintf("%.1f", value))
	}
	m := &r.Models[0]
	last := len(m.Curve)
	step := max(1, (last+9)/10)
	for k := 1; k <= last; k += step {
		text(b, m.x(k), svgHeight-svgBottom+18, "middle", fmt.Sprint(k))
	}
	text(b, (svgLeft+svgWidth-svgRight)/2, svgHeight-12, "middle", "k, the number of hits")
}

func (m *ModelReport) line(b *strings.Builder, colour, dash string, value func(Point) float64) {
	var points []string
	for _, p := range m.Curve {
		points = append(points, fmt.Sprintf("%.1f,%.1f", m.x(p.K), svgY(value(p))))
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>`+"\n", colour, dash, strings.Join(points, " "))
}

// x is where k stands.
func (m *ModelReport) x(k int) float64 {
	return svgLeft + float64(svgWidth-svgLeft-svgRight)*float64(k-1)/float64(max(1, len(m.Curve)-1))
}

func svgY(value float64) float64 {
	return svgTop + float64(svgHeight-svgTop-svgBottom)*(1-value)
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, escape(s))
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
