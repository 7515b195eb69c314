package dataset

import (
	"bytes"
	"strconv"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Prior is what is known of a batch before its rows are loaded.
type Prior interface {
	// ValidPositions reports whether x and y of all positions of batch i are numbers.
	ValidPositions(i int) bool
	// Values returns the smallest and the largest value of a column in batch i, and whether some
	// rows, or all, are null. ok is false if that is not known.
	Values(i, column int) (r ValueRange, ok bool)
}

// ValueRange is the values of a column in a batch.
type ValueRange struct {
	Low, High geoarrow.Value
	Nulls     bool // some rows are null
	AllNull   bool
}

// And returns the range of the values of two batches.
func (v ValueRange) And(w ValueRange) ValueRange {
	nulls := v.Nulls || w.Nulls || v.AllNull || w.AllNull
	switch {
	case v.AllNull:
		v = w
	case w.AllNull:
	default:
		if less(w.Low, v.Low) {
			v.Low = w.Low
		}
		if less(v.High, w.High) {
			v.High = w.High
		}
	}
	v.Nulls = nulls
	return v
}

// ValidPositions implements Prior.
func (r *reader) ValidPositions(i int) bool {
	n := r.view.batch[i]
	return n < 0 || !r.view.units[n].record.Invalid
}

// Values implements Prior, for the columns of folders.
func (r *reader) Values(i, column int) (v ValueRange, ok bool) {
	n := r.view.batch[i]
	if n < 0 || column >= len(r.view.shape.IDs) {
		return v, false
	}
	f := r.view.folders
	for k := range f.len() {
		if f.id(k) == r.view.shape.IDs[column] {
			u, starts := r.view.units[n], r.view.table.Starts
			return f.rangeOf(k, u.runs(starts[i]-u.firstRow, int(starts[i+1]-starts[i]))), true
		}
	}
	return v, false
}

// rangeOf returns the values of column k for the rows of members.
func (f *folderColumns) rangeOf(k int, runs []run) (v ValueRange) {
	v.AllNull = true
	for _, r := range runs {
		text, ok := f.text(k, r.member)
		if !ok {
			v.Nulls = true
			continue
		}
		value := geoarrow.Value{Bytes: []byte(text)}
		if k < len(f.keys) && f.integer[k] {
			n, _ := strconv.ParseInt(text, 10, 64)
			value = geoarrow.Value{Int: n}
		}
		if v.AllNull || less(value, v.Low) {
			v.Low = value
		}
		if v.AllNull || less(v.High, value) {
			v.High = value
		}
		v.AllNull = false
	}
	return v
}

func less(a, b geoarrow.Value) bool {
	return a.Int < b.Int || a.Int == b.Int && bytes.Compare(a.Bytes, b.Bytes) < 0
}
