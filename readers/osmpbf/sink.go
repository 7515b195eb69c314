package osmpbf

import (
	"errors"
	"strconv"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Names of the columns that are not those of a tag.
const (
	columnID    = "osm_id"
	columnWayID = "osm_way_id"
	columnOrder = "z_order"
	columnOther = "other_tags"
)

// tagFormat is how the tags without a column are written.
type tagFormat string

const (
	tagsJSON   tagFormat = "json"
	tagsHstore tagFormat = "hstore"
	tagsNone   tagFormat = "none"
)

// sink holds the rows of a part. All columns are in every part.
type sink struct {
	rows.Sink
	layer  *layer
	format tagFormat
	nulls  bool // on_error: null or repair

	id, way, order, other *rows.Column // nil: the layer has none
	columns               []*rows.Column
	values                []uint32 // of the current row by column: the number of the string and 1; 0: none
	set                   []int    // columns that the current row has
	others                []tag    // of the current row, without a column

	size   int64 // of the rows so far, about
	before int64 // the same, without the current row
	bad    []deviation
}

// deviation is a fault that was accepted.
type deviation struct {
	*fault
	rule, done string
}

// Rules of deviations.
const (
	ruleText     = "bad-text"     // a tag that is not UTF-8
	rulePosition = "bad-position" // a node that is not on Earth
)

func newSink(l *layer, format tagFormat, columns readers.Projection, nulls bool) *sink {
	k := &sink{layer: l, format: format, nulls: nulls, values: make([]uint32, len(l.keys))}
	k.columns = make([]*rows.Column, len(l.keys))
	k.Project(columns)
	k.Init(func() *rows.Column { return &rows.Column{} })
	k.Reset()
	return k
}

// Reset drops the rows, not what is known about them.
func (k *sink) Reset() {
	k.Sink.Reset()
	k.size, k.before, k.bad = 0, 0, k.bad[:0]
	k.others = k.others[:0]
	for _, c := range k.set {
		k.values[c] = 0
	}
	k.set = k.set[:0]
	add := func(name string, kinds geoarrow.FactKinds) *rows.Column {
		c := k.Column(geoarrow.RoleAttribute, []byte(name))
		c.Plain = true
		c.Accept(kinds)
		return c
	}
	k.id = add(columnID, geoarrow.FactString)
	if k.layer.number == multipolygons {
		k.way = add(columnWayID, geoarrow.FactString)
	}
	for i, name := range k.layer.names {
		k.columns[i] = add(name, geoarrow.FactString)
	}
	if k.layer.number == lines {
		k.order = add(columnOrder, geoarrow.FactInt32)
	}
	switch k.format {
	case tagsJSON:
		k.other = add(columnOther, geoarrow.FactJSON)
	case tagsHstore:
		k.other = add(columnOther, geoarrow.FactString)
	}
}

var errUTF8 = errors.New("expected UTF-8")

// attributes appends the id and the tags of an object at a byte of the block to the current row.
// isWay says that the id is that of a way in a layer of relations.
func (k *sink) attributes(t *texts, at int, id int64, isWay bool, tags []tag) *fault {
	for _, g := range tags {
		if k.invalid(t, g.key) || k.invalid(t, g.value) {
			f := &fault{at: at, field: string(t.bytes(g.key)), err: errUTF8}
			if k.invalid(t, g.key) {
				f.field = strconv.Quote(f.field)
			}
			if !k.nulls {
				return f
			}
			k.bad = append(k.bad, deviation{f, ruleText, "tag is left out"})
			continue
		}
		c := k.layer.class(t, g.key).column()
		if c < 0 {
			k.others = append(k.others, g)
			continue
		}
		if k.values[c] == 0 {
			k.set = append(k.set, c)
		}
		k.values[c] = g.value + 1 // the last one of several
	}
	if k.order != nil {
		k.appendOrder(k.zOrder(t, tags))
	}
	column := k.id
	if isWay {
		column = k.way
	}
	k.appendID(column, id)
	for _, c := range k.set {
		k.size += k.append(k.columns[c], t.bytes(k.values[c]-1))
		k.values[c] = 0
	}
	k.set = k.set[:0]
	if k.other != nil {
		k.appendOthers(t)
	}
	k.others = k.others[:0]
	return nil
}

func (k *sink) invalid(t *texts, i uint32) bool { return t.state(i) == textInvalid }

// append ends the row of a column with a text, and returns its size.
func (k *sink) append(c *rows.Column, text []byte) int64 {
	c.Pad(k.Rows)
	if c.Unread {
		c.Pass()
		return 0
	}
	c.Text = append(c.Text, text...)
	c.EndText()
	return int64(len(text))
}

func (k *sink) appendID(c *rows.Column, id int64) {
	c.Pad(k.Rows)
	if c.Unread {
		c.Pass()
		return
	}
	c.Text = strconv.AppendInt(c.Text, id, 10)
	c.EndText()
}

func (k *sink) appendOrder(v int32) {
	c := k.order
	c.Pad(k.Rows)
	if c.Unread {
		c.Pass()
		return
	}
	c.Ints = append(c.Ints, int64(v))
	c.Filled()
}

// appendOthers ends the row of other_tags, which is null if there is none.
func (k *sink) appendOthers(t *texts) {
	c := k.other
	if c.Unread {
		if len(k.others) > 0 {
			c.Pad(k.Rows)
			c.Pass()
		}
		return
	}
	from := -1
	for _, g := range k.others {
		if k.format == tagsHstore && k.layer.class(t, g.key)&keyIgnored != 0 {
			continue
		}
		if from < 0 {
			c.Pad(k.Rows)
			from = len(c.Text)
			if k.format == tagsJSON {
				c.Text = append(c.Text, '{')
			}
		} else {
			c.Text = append(c.Text, ',')
		}
		if k.format == tagsJSON {
			c.Text = t.appendJSON(c.Text, g.key)
			c.Text = append(c.Text, ':')
			c.Text = t.appendJSON(c.Text, g.value)
		} else {
			c.Text = appendHstore(c.Text, t.bytes(g.key))
			c.Text = append(c.Text, "=>"...)
			c.Text = appendHstore(c.Text, t.bytes(g.value))
		}
	}
	if from < 0 {
		return
	}
	if k.format == tagsJSON {
		c.Text = append(c.Text, '}')
	}
	k.size += int64(len(c.Text) - from)
	c.EndText()
}

// appendJSON appends a string as JSON (RFC 8259 section 7).
func (t *texts) appendJSON(dst []byte, i uint32) []byte {
	b := t.bytes(i)
	dst = append(dst, '"')
	if t.state(i) == textPlain {
		dst = append(dst, b...)
		return append(dst, '"')
	}
	const hex = "0123456789abcdef"
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// appendHstore appends a text as PostgreSQL's hstore has it, between quotes.
func appendHstore(dst, b []byte) []byte {
	dst = append(dst, '"')
	for _, c := range b {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// commit ends the current row.
func (k *sink) commit(f frame) {
	for _, d := range k.bad {
		k.Deviate(readers.Deviation{
			Offset: f.at, Row: int64(k.Rows), Field: d.field, Rule: d.rule, Done: d.done,
		})
	}
	k.bad = k.bad[:0]
	k.Commit(k.before)
	k.size += rowBytes
	k.before = k.size
}

// rowBytes is what a row counts in addition to its texts and positions.
const rowBytes = 16

// rollback drops the current row.
func (k *sink) rollback() {
	k.Rollback()
	k.size, k.bad, k.others = k.before, k.bad[:0], k.others[:0]
	for _, c := range k.set {
		k.values[c] = 0
	}
	k.set = k.set[:0]
}
