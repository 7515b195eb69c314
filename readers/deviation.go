package readers

import (
	"cmp"
	"slices"
)

// Deviation is one place where a table differs from the literal content of its file: a value that
// was made null, or a defect that has one obvious reading. The file's owner can look it up.
type Deviation struct {
	Offset int64  `json:"byte"`            // in the file, from 0
	Row    int64  `json:"row"`             // feature or record, from 0
	Field  string `json:"field,omitempty"` // "geometry" or the attribute; empty where none is concerned
	Rule   string `json:"rule"`            // short name of the rule in the format's page: "ragged-record"
	Done   string `json:"done"`            // what the table has instead: "missing fields are null"
}

// Deviations counts deviations by rule and keeps the first ones. The zero value is empty.
type Deviations struct {
	Count int64            `json:"count"`
	Rules map[string]int64 `json:"rules"` // how many, by Deviation.Rule
	First []Deviation      `json:"first"` // in file order, at most MaxDeviations
}

// MaxDeviations is how many deviations are kept with their places; the others are only counted.
const MaxDeviations = 100

// Add counts a deviation that comes after those counted so far.
func (d *Deviations) Add(v Deviation) {
	d.Count++
	if d.Rules == nil {
		d.Rules = map[string]int64{}
	}
	d.Rules[v.Rule]++
	if len(d.First) < MaxDeviations {
		d.First = append(d.First, v)
	}
}

// Append adds the deviations of the rows that follow.
func (d *Deviations) Append(more *Deviations) {
	d.Count += more.Count
	if d.Rules == nil && len(more.Rules) > 0 {
		d.Rules = map[string]int64{}
	}
	for rule, n := range more.Rules {
		d.Rules[rule] += n
	}
	room := min(len(more.First), MaxDeviations-len(d.First))
	d.First = append(d.First, more.First[:room]...)
}

// Merge adds deviations from between those counted so far, and keeps the file order.
func (d *Deviations) Merge(more *Deviations) {
	first := slices.Concat(d.First, more.First)
	slices.SortStableFunc(first, func(a, b Deviation) int { return cmp.Compare(a.Offset, b.Offset) })
	d.Append(&Deviations{Count: more.Count, Rules: more.Rules})
	d.First = first[:min(len(first), MaxDeviations)]
}

// Shift adds a number of rows to the row of each deviation. Deviations of a Part count rows from
// its first one, since a guess does not know how many rows come before.
func (d *Deviations) Shift(rows int64) {
	for i := range d.First {
		d.First[i].Row += rows
	}
}

// IsEmpty reports whether no deviation was counted.
func (d *Deviations) IsEmpty() bool { return d.Count == 0 }

// Reset forgets all deviations and keeps no memory that another Deviations may share.
func (d *Deviations) Reset() { *d = Deviations{} }
