package kml

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Leading columns, in the order of GDAL's driver LIBKML. An optional one is in the table only if
// some row has it.
const (
	columnID = iota
	columnName
	columnDescription
	columnTimestamp
	columnTimestampText // text that is not a timestamp: a year, a month
	columnBegin
	columnBeginText
	columnEnd
	columnEndText
	columnAltitudeMode
	columnTessellate
	columnExtrude
	columnVisibility
	columnDrawOrder
	columnIcon
	columnSnippet
	columnWhen // times of the positions of a track

	leadingColumns
)

// leading are the names and properties of the leading columns.
var leading = [leadingColumns]struct {
	name     string
	times    bool
	kinds    geoarrow.FactKinds // facts without any value
	optional bool
}{
	columnID:            {name: "id"},
	columnName:          {name: "Name"},
	columnDescription:   {name: "description"},
	columnTimestamp:     {name: "timestamp", times: true},
	columnTimestampText: {name: "timestamp_text", optional: true},
	columnBegin:         {name: "begin", times: true},
	columnBeginText:     {name: "begin_text", optional: true},
	columnEnd:           {name: "end", times: true},
	columnEndText:       {name: "end_text", optional: true},
	columnAltitudeMode:  {name: "altitudeMode"},
	columnTessellate:    {name: "tessellate", kinds: geoarrow.FactInt32},
	columnExtrude:       {name: "extrude", kinds: geoarrow.FactInt32},
	columnVisibility:    {name: "visibility", kinds: geoarrow.FactInt32},
	columnDrawOrder:     {name: "drawOrder", kinds: geoarrow.FactInt32},
	columnIcon:          {name: "icon"},
	columnSnippet:       {name: "snippet", optional: true},
	columnWhen:          {name: "when", optional: true},
}

// sink holds the rows of the current chunk, and KML's state in addition to their values.
type sink struct {
	rows.Sink
	leading [leadingColumns]*rows.Column
	data    []namedColumn    // columns of the values of the last rows, in their order
	listed  map[int]struct{} // schemas whose fields have columns in the chunk

	foreign   []foreign
	foreignAt map[string]int
	inRow     []int // occurrences in the current row
}

// namedColumn is the column of a name of extended data.
type namedColumn struct {
	name   string
	column *rows.Column
}

// foreign counts the elements of a name that no column holds.
type foreign struct {
	name string
	rule string // rule that it violates in a geometry; "": none
	n    int64  // in the rows of the chunk
}

func newSink(columns readers.Projection) *sink {
	k := &sink{}
	k.Project(columns)
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	return k
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	k.data, k.listed = k.data[:0], map[int]struct{}{}
	k.foreign, k.foreignAt, k.inRow = k.foreign[:0], map[string]int{}, k.inRow[:0]
	for i := range leading {
		if k.leading[i] = nil; !leading[i].optional {
			k.lead(i)
		}
	}
}

// lead returns a leading column, at its place in order.
func (k *sink) lead(i int) *rows.Column {
	if k.leading[i] == nil {
		l := &leading[i]
		k.leading[i] = k.Column(geoarrow.LeadingRole(uint8(leadingColumns-i), l.times), []byte(l.name))
		if l.kinds != 0 {
			k.leading[i].Accept(l.kinds)
		}
	}
	return k.leading[i]
}

// attribute returns the column of a name of extended data, the i-th of the row.
func (k *sink) attribute(i int, name []byte) *rows.Column {
	if i < len(k.data) && k.data[i].name == string(name) {
		return k.data[i].column
	}
	n := namedColumn{string(name), k.Column(geoarrow.RolePlain, name)}
	if i < len(k.data) {
		k.data[i] = n
	} else {
		k.data = append(k.data, n)
	}
	return n.column
}

// count counts an element of the current row that no column holds, and returns its index in
// foreign.
func (k *sink) count(name []byte) int {
	i, ok := k.foreignAt[string(name)]
	if !ok {
		i = len(k.foreign)
		k.foreign = append(k.foreign, foreign{name: string(name), rule: strayRule(name)})
		k.foreignAt[k.foreign[i].name] = i
	}
	k.inRow = append(k.inRow, i)
	return i
}

// commit ends the current row, which began at an offset.
func (k *sink) commit(at int64) {
	k.Commit(at)
	for _, i := range k.inRow {
		k.foreign[i].n++
	}
	k.inRow = k.inRow[:0]
}

// rollback drops the current row.
func (k *sink) rollback() {
	k.Rollback()
	k.inRow = k.inRow[:0]
}

// addTo adds the counts of a finished chunk.
func (k *sink) addTo(sum *readers.Summary) {
	k.AddTo(sum)
	for i := range k.foreign {
		if f := &k.foreign[i]; f.n > 0 {
			sum.Foreign[f.name] += f.n
		}
	}
}
