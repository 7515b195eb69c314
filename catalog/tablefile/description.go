package tablefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// descriptionKey is the key of the description in the custom metadata of the footer.
const descriptionKey = "vibeflight"

// description is a table as JSON in its file, without the slices of its batches. A property of
// batches is a series with a number for each batch, so that the description of a thousand batches
// of many columns stays short. A new field needs a new version of the layout.
type description struct {
	Format        string               `json:"format"`
	Engine        string               `json:"engine"`
	CRS           geoarrow.CRS         `json:"crs"`
	Rows          int64                `json:"rows"`
	Bytes         int64                `json:"bytes"`
	Starts        []int64              `json:"starts"`
	Spans         []readers.Span       `json:"spans"`
	Facts         []geoarrow.Facts     `json:"facts"`
	Boxes         [][4]bits            `json:"boxes"`
	BBox          *[4]bits             `json:"bbox"`
	GeometryTypes []string             `json:"geometry_types"`
	Positions     int64                `json:"positions"`
	Summary       readers.Summary      `json:"summary"`
	Rounded       int64                `json:"rounded_integers"`
	Replaced      int64                `json:"replaced_characters"`
	ParseTime     time.Duration        `json:"parse_ns"`
	Batches       batchSeries          `json:"batches"`
	Columns       []columnDescription  `json:"columns"`
	Geometry      *geometryDescription `json:"geometry"`
}

// bits is a float64 as its bits in hexadecimal, because JSON has no infinities, no NaN and no
// reliable -0.
type bits float64

// MarshalText returns 16 hexadecimal digits.
func (b bits) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x", math.Float64bits(float64(b))), nil
}

// UnmarshalText parses the result of MarshalText.
func (b *bits) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*b = bits(math.Float64frombits(n))
	return err
}

// series has a number for each batch. It is nil if all are 0.
type series []int64

func (s series) at(i int) int64 {
	if s == nil {
		return 0
	}
	return s[i]
}

// set sets number i of n.
func (s *series) set(i, n int, v int64) {
	if *s == nil && v != 0 {
		*s = make(series, n)
	}
	if *s != nil {
		(*s)[i] = v
	}
}

// batchSeries has the places of the messages and the indices of the batches.
type batchSeries struct {
	Rows       series `json:"rows"`
	Offset     series `json:"offset"`
	Metadata   series `json:"metadata"`
	Body       series `json:"body"`
	Sum        series `json:"crc32c"`
	TreeOffset series `json:"index_offset,omitempty"`
	TreeItems  series `json:"index_items,omitempty"`
	TreeSum    series `json:"index_crc32c,omitempty"`
}

// columnDescription describes one attribute column.
type columnDescription struct {
	Name     string        `json:"name"`
	ID       *string       `json:"id,omitempty"` // the name before renaming, if the table has it
	Role     geoarrow.Role `json:"role,omitempty"`
	Type     string        `json:"type"`
	Declared string        `json:"declared,omitempty"` // from Facts
	JSON     bool          `json:"json,omitempty"`
	Mixed    bool          `json:"mixed,omitempty"`
	Nulls    series        `json:"nulls,omitempty"`
	Rounded  series        `json:"rounded,omitempty"`
	Replaced series        `json:"replaced,omitempty"`
	Elements series        `json:"elements,omitempty"`
	Bytes    series        `json:"text_bytes,omitempty"`
	Empty    series        `json:"null_elements,omitempty"`
	Kinds    series        `json:"kinds,omitempty"` // this and the following fields are from Facts
	Digits   series        `json:"digits,omitempty"`
	Zones    series        `json:"zones,omitempty"`
	Offset   series        `json:"offset,omitempty"`
	MinSec   series        `json:"min_sec,omitempty"`
	MaxSec   series        `json:"max_sec,omitempty"`
}

// geometryDescription describes the geometry column.
type geometryDescription struct {
	Kind      geoarrow.Kind `json:"kind"`
	Dim       geoarrow.Dim  `json:"dim"`
	Nulls     series        `json:"nulls,omitempty"`
	Kinds     series        `json:"kinds,omitempty"` // 1 if the batch has Kinds
	Parts     series        `json:"parts,omitempty"`
	Rings     series        `json:"rings,omitempty"`
	Positions series        `json:"positions,omitempty"`
	Bytes     series        `json:"wkb_bytes,omitempty"`
}

// describe describes a table that check accepted. indices is nil for a table without geometry.
func describe(t *readers.Table, messages []message, indices []index) *description {
	d := &description{
		Format: t.Format, Engine: t.Engine, CRS: t.CRS, Rows: t.Rows, Bytes: t.Bytes, Starts: t.Starts,
		Spans: t.Spans, Facts: t.Facts,
		GeometryTypes: t.GeometryTypes, Positions: t.Positions, Summary: t.Summary, Rounded: t.RoundedIntegers,
		Replaced:  t.ReplacedCharacters,
		ParseTime: t.ParseTime,
	}
	if t.Boxes != nil {
		d.Boxes = make([][4]bits, len(t.Boxes))
		for i, b := range t.Boxes {
			d.Boxes[i] = toBits(b)
		}
	}
	if t.BBox != nil {
		b := toBits(*t.BBox)
		d.BBox = &b
	}
	d.describeColumns(t.Batches[0])
	for k := range t.IDs {
		d.Columns[k].ID = &t.IDs[k].Name
	}
	n := len(t.Batches)
	for i, m := range messages {
		b := &d.Batches
		b.Rows.set(i, n, int64(t.Batches[i].Rows))
		b.Offset.set(i, n, m.offset)
		b.Metadata.set(i, n, m.metadata)
		b.Body.set(i, n, m.body)
		b.Sum.set(i, n, int64(m.sum))
		d.describeBatch(i, n, t.Batches[i])
	}
	for i, x := range indices {
		d.Batches.TreeOffset.set(i, n, x.offset)
		d.Batches.TreeItems.set(i, n, int64(x.items))
		d.Batches.TreeSum.set(i, n, int64(x.sum))
	}
	return d
}

// describeColumns describes what all batches have in common, from one of them.
func (d *description) describeColumns(c *geoarrow.Columns) {
	d.Columns = make([]columnDescription, len(c.Attributes))
	for k := range d.Columns {
		a := &c.Attributes[k]
		name, _ := geoarrow.TypeName(a.Type) // check verified the type
		d.Columns[k] = columnDescription{
			Name: a.Name, Role: a.Role, Type: name, Declared: a.Facts.Declared,
			JSON: a.JSON, Mixed: a.Mixed,
		}
	}
	if g := c.Geometry; g != nil {
		d.Geometry = &geometryDescription{Kind: g.Kind, Dim: g.Dim}
	}
}

// describeBatch adds batch i of n to the series of its columns.
func (d *description) describeBatch(i, n int, c *geoarrow.Columns) {
	k := measure(c)
	for j := range c.Attributes {
		a, to, f := &c.Attributes[j], &d.Columns[j], c.Attributes[j].Facts
		to.Nulls.set(i, n, int64(a.Nulls))
		to.Rounded.set(i, n, a.Rounded)
		to.Replaced.set(i, n, a.Replaced)
		to.Elements.set(i, n, k.columns[j].elements)
		to.Bytes.set(i, n, k.columns[j].bytes)
		if a.Child != nil {
			to.Empty.set(i, n, int64(a.Child.Nulls))
		}
		to.Kinds.set(i, n, int64(f.Kinds))
		to.Digits.set(i, n, int64(f.Digits))
		to.Zones.set(i, n, int64(f.Zones))
		to.Offset.set(i, n, int64(f.Offset))
		to.MinSec.set(i, n, f.MinSec)
		to.MaxSec.set(i, n, f.MaxSec)
	}
	if g, to := c.Geometry, d.Geometry; g != nil {
		to.Nulls.set(i, n, int64(g.Nulls))
		if k.geometry.kinds {
			to.Kinds.set(i, n, 1)
		}
		to.Parts.set(i, n, k.geometry.parts)
		to.Rings.set(i, n, k.geometry.rings)
		to.Positions.set(i, n, k.geometry.positions)
		to.Bytes.set(i, n, k.geometry.bytes)
	}
}

func toBits(b readers.Box) [4]bits { return [4]bits{bits(b[0]), bits(b[1]), bits(b[2]), bits(b[3])} }

func (d *description) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// table returns the table without its batches.
func (d *description) table() *readers.Table {
	t := &readers.Table{
		Format: d.Format, Engine: d.Engine, CRS: d.CRS, Rows: d.Rows, Bytes: d.Bytes, Starts: d.Starts,
		Spans: d.Spans, Facts: d.Facts,
		GeometryTypes: d.GeometryTypes, Positions: d.Positions, Summary: d.Summary, RoundedIntegers: d.Rounded,
		ReplacedCharacters: d.Replaced,
		ParseTime:          d.ParseTime,
	}
	for _, c := range d.Columns {
		if c.ID != nil {
			t.IDs = append(t.IDs, geoarrow.ColumnID{Role: c.Role, Name: *c.ID})
		}
	}
	if d.Boxes != nil {
		t.Boxes = make([]readers.Box, len(d.Boxes))
		for i, b := range d.Boxes {
			t.Boxes[i] = fromBits(b)
		}
	}
	if d.BBox != nil {
		b := fromBits(*d.BBox)
		t.BBox = &b
	}
	return t
}

func fromBits(b [4]bits) readers.Box {
	return readers.Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])}
}

// batch returns batch i without its slices, and their counts. types are the types of its columns.
func (d *description) batch(i int, types []arrow.DataType) (*geoarrow.Columns, counts) {
	c := &geoarrow.Columns{Rows: int(d.Batches.Rows.at(i)), Attributes: make([]geoarrow.Column, len(d.Columns))}
	k := counts{columns: make([]columnCounts, len(d.Columns))}
	for j := range d.Columns {
		from := &d.Columns[j]
		c.Attributes[j] = geoarrow.Column{
			Name: from.Name, Role: from.Role, Type: types[j], JSON: from.JSON, Mixed: from.Mixed,
			Rounded: from.Rounded.at(i), Replaced: from.Replaced.at(i), Nulls: int(from.Nulls.at(i)),
			Facts: geoarrow.Facts{
				Kinds: geoarrow.FactKinds(from.Kinds.at(i)), Digits: uint8(from.Digits.at(i)),
				Zones:  geoarrow.Zones(from.Zones.at(i)),
				Offset: int32(from.Offset.at(i)), MinSec: from.MinSec.at(i), MaxSec: from.MaxSec.at(i),
				Declared: from.Declared,
			},
		}
		if l, ok := types[j].(*arrow.ListType); ok {
			c.Attributes[j].Child = &geoarrow.Column{Type: l.Elem(), Nulls: int(from.Empty.at(i))}
		}
		k.columns[j] = columnCounts{from.Elements.at(i), from.Bytes.at(i)}
	}
	if from := d.Geometry; from != nil {
		c.Geometry = &geoarrow.Geometry{Rows: c.Rows, Kind: from.Kind, Dim: from.Dim, Nulls: int(from.Nulls.at(i))}
		k.geometry = geometryCounts{
			from.Kinds.at(i) != 0, from.Parts.at(i), from.Rings.at(i),
			from.Positions.at(i), from.Bytes.at(i),
		}
	}
	return c, k
}
