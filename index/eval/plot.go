package eval

import (
	"fmt"
	"strings"
)

const (
	plotHeight = 10
	plotWidth  = 60
)

// Plot draws a model's recall (R) and precision (P) over k in characters, a line
// each; * is where both are.
func (m *ModelReport) Plot() []string {
	width := min(len(m.Curve), plotWidth)
	grid := make([][]byte, plotHeight+1)
	for i := range grid {
		grid[i] = []byte(strings.Repeat(" ", width))
	}
	for x := range width {
		p := m.Curve[x*(len(m.Curve)-1)/max(width-1, 1)]
		mark(grid, x, p.Recall, 'R')
		mark(grid, x, p.Precision, 'P')
	}
	var out []string
	for i, line := range grid {
		axis := "    "
		if i%5 == 0 {
			axis = fmt.Sprintf("%.1f ", 1-float64(i)/plotHeight)
		}
		out = append(out, strings.TrimRight(axis+"|"+string(line), " "))
	}
	last := fmt.Sprint(m.Curve[len(m.Curve)-1].K)
	return append(out, "    +"+strings.Repeat("-", width), "  k  1"+strings.Repeat(" ", max(1, width-1-len(last)))+last)
}

func mark(grid [][]byte, x int, value float64, c byte) {
	at := &grid[plotHeight-int(value*plotHeight+0.5)][x]
	if *at != ' ' {
		c = '*'
	}
	*at = c
}
