package gpx

import (
	"strconv"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// sink holds the rows of the current chunk, and GPX's state in addition to their values.
type sink struct {
	rows.Sink
	header  header
	has     [leadingColumns]presence
	leading [leadingColumns]*rows.Column
	times   times
	runs    []run // of a layer with numbers

	extras []extraColumn // of the last rows' values, in their order

	foreign   []foreign
	foreignAt map[string]int
	inRow     []int // occurrences in the current row
}

// extraColumn is the column of an element of extensions, or of a third or later link.
type extraColumn struct {
	element string
	column  *rows.Column
}

// foreign counts the elements of a name that no column holds.
type foreign struct {
	name string
	n    int64 // in the rows of the chunk
}

func newSink(h header, columns readers.Projection) *sink {
	k := &sink{header: h}
	for c := range leadingColumns {
		k.has[c] = h.has(c)
	}
	k.Fields = true
	k.Project(columns)
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	return k
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	k.extras, k.runs, k.times = k.extras[:0], k.runs[:0], times{}
	k.foreign, k.foreignAt, k.inRow = k.foreign[:0], map[string]int{}, k.inRow[:0]
	for c := range leadingColumns {
		if k.leading[c] = nil; k.has[c] == always {
			k.lead(c)
		}
	}
}

// role returns the role of a leading column.
func role(c column) geoarrow.Role { return geoarrow.LeadingRole(uint8(leadingColumns-c), false) }

// lead returns a leading column, at its place in order.
func (k *sink) lead(i column) *rows.Column {
	if k.leading[i] == nil {
		c := k.Column(role(i), []byte(k.header.name(i)))
		switch leading[i].kind {
		case kindDecimal:
			c.Accept(geoarrow.FactFloat)
		case kindInteger:
			c.Accept(geoarrow.FactInt32)
		case kindTime:
			c.Accept(geoarrow.FactInt64)
		case kindText:
			c.Accept(geoarrow.FactString)
		}
		k.leading[i] = c
	}
	return k.leading[i]
}

// extra returns the column of an element that is the i-th of the row without a leading column.
// A colon of the name becomes a low line, as in GDAL.
func (k *sink) extra(i int, element []byte) *rows.Column {
	if i < len(k.extras) && k.extras[i].element == string(element) {
		return k.extras[i].column
	}
	name := make([]byte, len(element))
	for j, b := range element {
		if name[j] = b; b == ':' {
			name[j] = '_'
		}
	}
	n := extraColumn{string(element), k.Column(geoarrow.RolePlain, name)}
	if i < len(k.extras) {
		k.extras[i] = n
	} else {
		k.extras = append(k.extras, n)
	}
	return n.column
}

// linkElement returns the name of the column of a part of a link, where the first link has number 1.
func linkElement(number int, part string) []byte {
	return append(append(strconv.AppendInt([]byte("link"), int64(number), 10), '_'), part...)
}

// Columns implements rows.Rows.
func (k *sink) Columns(next float64) (*geoarrow.Columns, error) {
	numbered := k.header.layer.isNumbered()
	if numbered {
		k.addNumbers()
	}
	out, err := k.Sink.Columns(next)
	if err != nil {
		return nil, err
	}
	if numbered {
		setNumbers(out, k.runs)
	}
	for i := range out.Attributes {
		if c := &out.Attributes[i]; c.Role == role(columnTime) {
			k.times.finish(c)
		}
	}
	return out, nil
}

// count counts the element of the current row that no column holds.
func (k *sink) count(name []byte) {
	i, ok := k.foreignAt[string(name)]
	if !ok {
		i = len(k.foreign)
		k.foreign = append(k.foreign, foreign{name: string(name)})
		k.foreignAt[k.foreign[i].name] = i
	}
	k.inRow = append(k.inRow, i)
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
