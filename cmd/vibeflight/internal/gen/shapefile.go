package gen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

const (
	shapefilePRJ = `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],` +
		`PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
	shapefileCPG = "UTF-8"
)

// shpHeadBytes is the length of the header of .shp and .shx.
const shpHeadBytes = 100

// shpMaxBytes is the maximum size of a .shp: its length, and the offsets of its records, are int32
// in 16-bit words.
const shpMaxBytes = 2 * math.MaxInt32

// polygonShape is the shape code of polygons without Z and M.
const polygonShape = 5

// ShapefileFiles are the files of a shapefile, all empty. Headers are written last.
type ShapefileFiles struct {
	SHP, SHX interface {
		io.Writer
		io.WriterAt
	}
	DBF, PRJ, CPG io.Writer
}

// WriteShapefile writes the shapefile of spec, of the kind Shapefile. Its .dbf is the file of the
// kind DBF. It checks ctx and returns errors as Write does. A shapefile above 4 GiB is an error.
func WriteShapefile(ctx context.Context, to ShapefileFiles, spec Spec) error {
	s, _ := shapeOf(Shapefile, spec.Features)
	report := spec.Progress
	half := func(passes int64) func(done, total int64) {
		if report == nil {
			return nil
		}
		return func(done, total int64) { report((passes*total+done)/2, total) }
	}
	spec.Kind, spec.Progress = DBF, half(0)
	if err := Write(ctx, to.DBF, spec); err != nil {
		return err
	}
	spec.Progress = half(1)
	shapes := shapeWriter{
		to: to, bytes: shpHeadBytes, minX: math.Inf(1), minY: math.Inf(1), maxX: math.Inf(-1),
		maxY: math.Inf(-1),
	}
	if err := errors.Join(writeString(to.SHP, string(shapes.head(0))),
		writeString(to.SHX, string(shapes.head(0)))); err != nil {
		return err
	}
	if err := s.writeChunks(ctx, &shapes, spec); err != nil {
		return err
	}
	return errors.Join(shapes.finish(spec.Features), writeString(to.PRJ, shapefilePRJ),
		writeString(to.CPG, shapefileCPG))
}

func writeString(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

// shapeRecord writes a parcel of land as a record of a .shp, whose rings have their insides at the
// right:
//
//	0   8   header, big-endian: number of the record from 1, length after the header in 16-bit words
//	8   4   5, a polygon; little-endian from here on
//	12  32  box: x and y of its lower left corner, x and y of the upper right one
//	44  8   1 ring, number of its positions
//	52  4   index of the ring's first position
//	56  16  for each position x and y
func (c *chunk) shapeRecord(i int64) {
	ring := c.plot(true)
	lowest, highest := ring[0], ring[0]
	for _, p := range ring {
		lowest = position{min(lowest.x, p.x), min(lowest.y, p.y)}
		highest = position{max(highest.x, p.x), max(highest.y, p.y)}
	}
	b := slices.Grow(c.text, 56+16*len(ring))
	b = binary.BigEndian.AppendUint32(b, uint32(i+1))
	b = binary.BigEndian.AppendUint32(b, uint32(48+16*len(ring))/2)
	b = binary.LittleEndian.AppendUint32(b, polygonShape)
	b = appendDegrees(appendDegrees(b, lowest), highest)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(ring)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, p := range ring {
		b = appendDegrees(b, p)
	}
	c.text = b
}

// appendDegrees appends the float64 that are nearest to the decimals of p: a quotient of two exact
// ones is rounded once.
func appendDegrees(b []byte, p position) []byte {
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(p.x)/degree))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(p.y)/degree))
}

// shapeWriter writes records to a .shp, and their offsets to the .shx.
type shapeWriter struct {
	to                     ShapefileFiles
	bytes                  int64 // of the .shp so far
	minX, minY, maxX, maxY float64
	index                  []byte // of the current records
}

// Write writes whole records.
func (w *shapeWriter) Write(records []byte) (int, error) {
	if w.bytes+int64(len(records)) > shpMaxBytes {
		return 0, fmt.Errorf("a shapefile can't hold more than %d bytes of shapes", int64(shpMaxBytes))
	}
	w.index = w.index[:0]
	for rest := records; len(rest) > 0; {
		words := binary.BigEndian.Uint32(rest[4:])
		w.index = binary.BigEndian.AppendUint32(w.index, uint32(w.bytes/2))
		w.index = binary.BigEndian.AppendUint32(w.index, words)
		number := func(at int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(rest[at:])) }
		w.minX, w.minY = min(w.minX, number(12)), min(w.minY, number(20))
		w.maxX, w.maxY = max(w.maxX, number(28)), max(w.maxY, number(36))
		w.bytes += 8 + 2*int64(words)
		rest = rest[8+2*words:]
	}
	if _, err := w.to.SHX.Write(w.index); err != nil {
		return 0, err
	}
	return w.to.SHP.Write(records)
}

// head is the header of .shp and .shx, for a file of the given length in bytes:
//
//	0   4   9994, big-endian; 20 zeros
//	24  4   length of the file in 16-bit words, big-endian
//	28  8   version 1000, shape code; little-endian from here on
//	36  64  box in x and y; zeros for Z and M
func (w *shapeWriter) head(bytes int64) []byte {
	var b [shpHeadBytes]byte
	binary.BigEndian.PutUint32(b[0:], 9994)
	binary.BigEndian.PutUint32(b[24:], uint32(bytes/2))
	binary.LittleEndian.PutUint32(b[28:], 1000)
	binary.LittleEndian.PutUint32(b[32:], polygonShape)
	if w.minX <= w.maxX {
		for i, v := range [4]float64{w.minX, w.minY, w.maxX, w.maxY} {
			binary.LittleEndian.PutUint64(b[36+8*i:], math.Float64bits(v))
		}
	}
	return b[:]
}

// finish writes the headers again.
func (w *shapeWriter) finish(records int64) error {
	_, err := w.to.SHP.WriteAt(w.head(w.bytes), 0)
	if err != nil {
		return err
	}
	_, err = w.to.SHX.WriteAt(w.head(shpHeadBytes+8*records), 0)
	return err
}
