package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Baseline is the figures that a change is held against: those of each model at
// one k.
type Baseline struct {
	Set       string          `json:"set"`
	Questions int             `json:"questions"`
	K         int             `json:"k"`
	Models    []BaselineModel `json:"models"`
}

// BaselineModel is the figures of one model.
type BaselineModel struct {
	Model     string  `json:"model"`
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
	NDCG      float64 `json:"ndcg"`
	MRR       float64 `json:"mrr"`
}

// Tolerance is by how much a figure may be below its baseline and not be worse:
// what rounding in other environments may come to.
const Tolerance = 1e-6

// Change is a figure beside its baseline.
type Change struct {
	Model  string  `json:"model"`
	Figure string  `json:"figure"`
	Before float64 `json:"before"`
	Now    float64 `json:"now"`
	Worse  bool    `json:"worse"`
}

// Baseline is the report's figures at k.
func (r *Report) Baseline(k int) (*Baseline, error) {
	b := &Baseline{Set: r.Set, Questions: r.Questions, K: k}
	for i := range r.Models {
		m := &r.Models[i]
		f, ok := m.At(k)
		if !ok {
			return nil, fmt.Errorf("k %d was not measured", k)
		}
		b.Models = append(b.Models, BaselineModel{m.Model, f.Recall, f.Precision, f.NDCG, m.MRR})
	}
	return b, nil
}

// Compare holds a report against the baseline, figure by figure. It fails if the
// report is of another set, or lacks a model that the baseline has.
func (b *Baseline) Compare(r *Report) ([]Change, error) {
	if b.Set != r.Set || b.Questions != r.Questions {
		return nil, fmt.Errorf("it is that of %s with %d questions, not of %s with %d (--record makes it anew)", b.Set, b.Questions, r.Set, r.Questions)
	}
	now, err := r.Baseline(b.K)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, before := range b.Models {
		i := slices.IndexFunc(now.Models, func(m BaselineModel) bool { return m.Model == before.Model })
		if i < 0 {
			return nil, fmt.Errorf("it has figures of model %q, which was not measured (--model %[1]s)", before.Model)
		}
		out = append(out, before.changes(&now.Models[i], b.K)...)
	}
	return out, nil
}

func (m *BaselineModel) changes(now *BaselineModel, k int) (out []Change) {
	for _, c := range []Change{
		{Figure: fmt.Sprintf("recall@%d", k), Before: m.Recall, Now: now.Recall},
		{Figure: fmt.Sprintf("precision@%d", k), Before: m.Precision, Now: now.Precision},
		{Figure: fmt.Sprintf("nDCG@%d", k), Before: m.NDCG, Now: now.NDCG},
		{Figure: "MRR", Before: m.MRR, Now: now.MRR},
	} {
		c.Model, c.Worse = m.Model, c.Now < c.Before-Tolerance
		out = append(out, c)
	}
	return out
}

// ReadBaseline reads a baseline's file; the error wraps fs.ErrNotExist if there is
// none.
func ReadBaseline(path string) (*Baseline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &Baseline{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		line := 1 + bytes.Count(data[:min(int(d.InputOffset()), len(data))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: no baseline of quern eval: %w (--record makes it anew)", path, line, err)
	}
	if b.K < 1 || len(b.Models) == 0 {
		return nil, fmt.Errorf("%s:1: no baseline of quern eval: it has no k or no models (--record makes it anew)", path)
	}
	return b, nil
}

// Write writes the baseline to a file; one that is there is replaced.
func (b *Baseline) Write(path string) error {
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	temp := path + ".new"
	err = os.WriteFile(temp, append(data, '\n'), 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(temp)
	}
	return err
}
