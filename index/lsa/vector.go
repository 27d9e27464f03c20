package lsa

import "math"

// Lane is what the length of every vector is a multiple of.
const Lane = 16

// Padded is the least length of a vector that holds n components.
func Padded(n int) int { return (n + Lane - 1) / Lane * Lane }

// Vectors are the vectors of a run of passages, a byte a dimension: v[i] is nearly
// Scale · Data[i].
type Vectors struct {
	Dimensions int
	// Scale has one number a passage, 0 for a passage without a vector.
	Scale []float32
	Data  []int8 // Dimensions a passage
}

// NewVectors returns n passages without vectors.
func NewVectors(dimensions, n int) *Vectors {
	return &Vectors{Dimensions: dimensions, Scale: make([]float32, n), Data: make([]int8, n*dimensions)}
}

func (v *Vectors) row(i int) []int8 { return v.Data[i*v.Dimensions : (i+1)*v.Dimensions] }

// Append adds vector i of others, which has as many dimensions.
func (v *Vectors) Append(others *Vectors, i int) {
	v.Scale = append(v.Scale, others.Scale[i])
	v.Data = append(v.Data, others.row(i)...)
}

// Len is the number of passages.
func (v *Vectors) Len() int { return len(v.Scale) }

// Set keeps a vector of at most v.Dimensions components for passage i; nil for none.
func (v *Vectors) Set(i int, vector []float32) {
	row := v.row(i)
	clear(row)
	peak := largest(vector)
	if v.Scale[i] = peak / 127; peak == 0 {
		return
	}
	for j, x := range vector {
		row[j] = int8(math.RoundToEven(float64(x) / float64(peak) * 127))
	}
}

// addTo adds weight times vector i to sum.
func (v *Vectors) addTo(sum []float64, i int, weight float64) {
	weight *= float64(v.Scale[i])
	for j, x := range v.row(i) {
		sum[j] += float64(weight * float64(x))
	}
}

func largest(vector []float32) float32 {
	var peak float32
	for _, x := range vector {
		peak = max(peak, x, -x)
	}
	return peak
}

// Query is a vector to compare with many.
type Query struct {
	scale float64
	data  []int16
}

// querySteps are the steps of a query's components on either side of zero: the sum of
// MaxDimensions products of them and of a byte stays within 32 bits.
const querySteps = 2047

// NewQuery prepares a vector of a multiple of Lane components, at most
// MaxDimensions.
func NewQuery(vector []float32) Query {
	q := Query{data: make([]int16, len(vector))}
	peak := largest(vector)
	if peak == 0 {
		return q
	}
	for j, x := range vector {
		q.data[j] = int16(math.RoundToEven(float64(x) / float64(peak) * querySteps))
	}
	q.scale = float64(peak) / querySteps
	return q
}

// block is how many dot products are computed at once.
const block = 256

// Scores calls yield with the similarity of each passage in [from, to) that has a
// vector: the dot product, which for vectors of unit length is the cosine to
// about 0.005. The result is the same on every machine.
func (v *Vectors) Scores(q Query, from, to int, yield func(i int, score float64)) {
	if len(q.data) != v.Dimensions || q.scale == 0 {
		return
	}
	var dots [block]int32
	for from < to {
		n := min(block, to-from)
		dot(q.data, v.Data[from*v.Dimensions:(from+n)*v.Dimensions], dots[:n])
		for k, d := range dots[:n] {
			if s := v.Scale[from+k]; s != 0 {
				yield(from+k, float64(d)*(q.scale*float64(s)))
			}
		}
		from += n
	}
}

// Score is the similarity of passage i, 0 if it has no vector.
func (v *Vectors) Score(q Query, i int) (score float64) {
	v.Scores(q, i, i+1, func(_ int, s float64) { score = s })
	return score
}

// dotsGeneric computes out[k] = Σ q[j] · rows[k·len(q)+j].
func dotsGeneric(q []int16, rows []int8, out []int32) {
	for k := range out {
		row := rows[k*len(q):]
		row = row[:len(q)]
		var a, b, c, d int32
		for j := 0; j+3 < len(q); j += 4 {
			a += int32(q[j]) * int32(row[j])
			b += int32(q[j+1]) * int32(row[j+1])
			c += int32(q[j+2]) * int32(row[j+2])
			d += int32(q[j+3]) * int32(row[j+3])
		}
		out[k] = a + b + c + d
	}
}
