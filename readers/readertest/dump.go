package readertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// dump writes every visible slice of a table, byte by byte, and the counts of the parse: equal
// tables give equal dumps.
func dump(t *readers.Table) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d rows, starts %d, crs %+v, bbox %v, types %q, positions %d, bytes %d\n", t.Format,
		t.Rows, t.Starts, t.CRS, bbox(t), t.GeometryTypes, t.Positions, t.Bytes)
	b.WriteString(counters(t))
	for _, batch := range t.Batches {
		fmt.Fprintf(&b, "batch of %d rows\n", batch.Rows)
		for i := range batch.Attributes {
			dumpColumn(&b, &batch.Attributes[i])
		}
		if batch.Geometry != nil {
			dumpGeometry(&b, batch.Geometry)
		}
	}
	return b.Bytes()
}

func bbox(t *readers.Table) []uint64 {
	if t.BBox == nil {
		return nil
	}
	var bits []uint64
	for _, v := range t.BBox {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}

func dumpColumn(b *bytes.Buffer, c *geoarrow.Column) {
	fmt.Fprintf(b, "column %q role %d %s nulls %d valid %x offsets %d values %x\n", c.Name, c.Role,
		typeText(c), c.Nulls, c.Valid, c.Offsets, c.Values)
	if c.Child != nil {
		dumpColumn(b, c.Child)
	}
}

func dumpGeometry(b *bytes.Buffer, g *geoarrow.Geometry) {
	fmt.Fprintf(b, "%s nulls %d valid %x kinds %x, geoms %d parts %d rings %d offsets %d wkb %x\n",
		geometryText(g), g.Nulls, g.Valid, g.Kinds,
		g.Geoms, g.Parts, g.Rings, g.Offsets, g.WKB)
	for _, v := range [][]float64{g.X, g.Y, g.Z, g.M} {
		b.WriteString("ordinates")
		var word [8]byte
		for _, f := range v {
			binary.BigEndian.PutUint64(word[:], math.Float64bits(f))
			fmt.Fprintf(b, " %x", word)
		}
		b.WriteByte('\n')
	}
}

// outcome returns the dump of a table, or the text of an error, which must be the same for all
// engines.
func outcome(t *readers.Table, err error) []byte {
	if err != nil {
		return fmt.Appendf(nil, "%T %v\n", err, err)
	}
	return dump(t)
}
