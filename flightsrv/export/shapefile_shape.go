package export

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// shapeFamily is a type of shapes, without Z and M.
type shapeFamily uint32

const (
	pointFamily      shapeFamily = 1
	lineFamily       shapeFamily = 3
	polygonFamily    shapeFamily = 5
	multiPointFamily shapeFamily = 8
)

// familyOf returns the family of a geometry; 0 if there is none.
func familyOf(k geoarrow.Kind) shapeFamily {
	switch k {
	case geoarrow.Point:
		return pointFamily
	case geoarrow.MultiPoint:
		return multiPointFamily
	case geoarrow.LineString, geoarrow.MultiLineString:
		return lineFamily
	case geoarrow.Polygon, geoarrow.MultiPolygon:
		return polygonFamily
	}
	return 0
}

const (
	shapeHeaderBytes = 100
	maxShapeBytes    = math.MaxInt32 // of .shp: many readers count bytes in 32 bits
	noMeasure        = -1e39         // any number less than -1e38 is "no data"
)

// acceptParts checks that the parts of a geometry can be the parts of a shape.
func acceptParts(t *geoarrow.Tree) error {
	for i := range t.Members {
		if t.Members[i].Empty() {
			return fmt.Errorf("member %d of the %s is empty, which a shapefile can't hold", i, t.Kind)
		}
		if err := acceptParts(&t.Members[i]); err != nil {
			return err
		}
	}
	for _, run := range t.Runs {
		n := len(run) / t.Dim.Size()
		switch {
		case !finitePositions(run, t.Dim):
			return errors.New("a shapefile can't hold NaN or infinity as a coordinate")
		case t.Kind == geoarrow.LineString && n < 2:
			return fmt.Errorf("a line of %d positions, which a shapefile can't hold", n)
		case t.Kind == geoarrow.Polygon && n < 4:
			return fmt.Errorf("a ring of %d positions, which a shapefile can't hold", n)
		case t.Kind == geoarrow.Polygon && !slices.Equal(run[:2], run[len(run)-t.Dim.Size():][:2]):
			return errors.New("a ring is not closed")
		}
	}
	return nil
}

// shapes writes .shp and .shx. Lengths and offsets in them are big-endian and count 16-bit words.
type shapes struct {
	shp, shx   *os.File
	out, index *bufio.Writer
	family     shapeFamily
	dim        geoarrow.Dim
	size       int64 // bytes of .shp
	rows       uint32
	box        [8]float64 // xmin ymin xmax ymax zmin zmax mmin mmax
	bound      bool       // the box has a position
	content    []byte
	runs       [][]float64
}

func newShapes(shp, shx *os.File, family shapeFamily, dim geoarrow.Dim) *shapes {
	s := &shapes{
		shp: shp, shx: shx, out: bufio.NewWriterSize(shp, bufferBytes),
		index: bufio.NewWriterSize(shx, bufferBytes), family: family, dim: dim, size: shapeHeaderBytes,
	}
	var room [shapeHeaderBytes]byte // the header follows in Close
	_, _ = s.out.Write(room[:])     // the buffer has room for it
	_, _ = s.index.Write(room[:])
	return s
}

// kind is the type of all shapes that are not null: the family, and 10 with Z or 20 with M alone.
func (s *shapes) kind() uint32 {
	switch {
	case s.family == 0:
		return 0
	case s.dim&geoarrow.HasZ != 0:
		return uint32(s.family) + 10
	case s.dim&geoarrow.HasM != 0:
		return uint32(s.family) + 20
	}
	return uint32(s.family)
}

func (s *shapes) null() error { return s.record(binary.LittleEndian.AppendUint32(s.content[:0], 0)) }

// record writes a record, and its place in the index.
func (s *shapes) record(content []byte) error {
	s.content = content
	if s.size+8+int64(len(content)) > maxShapeBytes {
		return fmt.Errorf("the .shp would be larger than %d bytes, which is its limit; write .gpkg or .parquet",
			maxShapeBytes)
	}
	s.rows++
	var at, head [8]byte
	binary.BigEndian.PutUint32(at[:], uint32(s.size/2))
	binary.BigEndian.PutUint32(at[4:], uint32(len(content)/2))
	binary.BigEndian.PutUint32(head[:], s.rows)
	copy(head[4:], at[4:])
	s.size += 8 + int64(len(content))
	for _, err := range []error{write(s.index, at[:]), write(s.out, head[:]), write(s.out, content)} {
		if err != nil {
			return err
		}
	}
	return nil
}

func write(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// Close writes the headers.
func (s *shapes) Close() error {
	if err := errors.Join(s.out.Flush(), s.index.Flush()); err != nil {
		return err
	}
	for file, size := range map[*os.File]int64{s.shp: s.size, s.shx: shapeHeaderBytes + 8*int64(s.rows)} {
		h := make([]byte, shapeHeaderBytes)
		binary.BigEndian.PutUint32(h, 9994)
		binary.BigEndian.PutUint32(h[24:], uint32(size/2))
		binary.LittleEndian.PutUint32(h[28:], 1000)
		binary.LittleEndian.PutUint32(h[32:], s.kind())
		for i, v := range s.box {
			binary.LittleEndian.PutUint64(h[36+8*i:], math.Float64bits(v))
		}
		if _, err := file.WriteAt(h, 0); err != nil {
			return err
		}
	}
	return nil
}

// add writes a geometry that accept has accepted.
func (s *shapes) add(t *geoarrow.Tree) error {
	s.runs = s.runs[:0]
	s.collect(t)
	le := binary.LittleEndian
	b := le.AppendUint32(s.content[:0], s.kind())
	box := s.boundsOf(s.runs)
	s.extend(box)
	if s.family == pointFamily {
		return s.record(s.appendPoint(b))
	}
	b = appendDoubles(b, box[:4]...)
	points := 0
	for _, run := range s.runs {
		points += len(run) / s.dim.Size()
	}
	if s.family != multiPointFamily {
		b = le.AppendUint32(b, uint32(len(s.runs)))
	}
	b = le.AppendUint32(b, uint32(points))
	if s.family != multiPointFamily {
		start := 0
		for _, run := range s.runs {
			b = le.AppendUint32(b, uint32(start))
			start += len(run) / s.dim.Size()
		}
	}
	b = s.appendOrdinate(b, 0, 1)
	if z := ordinateOf(s.dim, geoarrow.HasZ); z >= 0 {
		b = s.appendOrdinate(appendDoubles(b, box[4:6]...), z)
	}
	if m := ordinateOf(s.dim, geoarrow.HasM); m >= 0 {
		b = s.appendOrdinate(appendDoubles(b, box[6:]...), m)
	}
	return s.record(b)
}

// appendPoint appends x, y, and z and m if the type has them. A PointZ always has an m.
func (s *shapes) appendPoint(b []byte) []byte {
	b = s.appendOrdinate(b, 0, 1)
	if z := ordinateOf(s.dim, geoarrow.HasZ); z >= 0 {
		b = s.appendOrdinate(b, z)
	}
	if m := ordinateOf(s.dim, geoarrow.HasM); m >= 0 {
		return s.appendOrdinate(b, m)
	}
	if s.dim&geoarrow.HasZ != 0 {
		return appendDoubles(b, noMeasure)
	}
	return b
}

// collect appends the runs of a geometry. The first ring of a polygon is made clockwise, the others
// counterclockwise.
func (s *shapes) collect(t *geoarrow.Tree) {
	for i := range t.Members {
		s.collect(&t.Members[i])
	}
	for i, run := range t.Runs {
		if t.Kind == geoarrow.Polygon {
			if area := signedArea(run, t.Dim.Size()); i == 0 && area > 0 || i > 0 && area < 0 {
				run = reversed(run, t.Dim.Size())
			}
		}
		s.runs = append(s.runs, run)
	}
}

// signedArea is twice the area of a ring: positive if it is counterclockwise.
func signedArea(ring []float64, size int) (area float64) {
	for i := size; i+size < len(ring); i += size {
		x1, y1 := ring[i]-ring[0], ring[i+1]-ring[1]
		x2, y2 := ring[i+size]-ring[0], ring[i+size+1]-ring[1]
		area += x1*y2 - x2*y1
	}
	return area
}

func reversed(run []float64, size int) []float64 {
	out := make([]float64, 0, len(run))
	for i := len(run) - size; i >= 0; i -= size {
		out = append(out, run[i:i+size]...)
	}
	return out
}

// boundsOf returns xmin ymin xmax ymax zmin zmax mmin mmax; zeros for what the type does not have.
func (s *shapes) boundsOf(runs [][]float64) (box [8]float64) {
	places := [4][3]int{
		{0, 0, 2},
		{1, 1, 3},
		{ordinateOf(s.dim, geoarrow.HasZ), 4, 5},
		{ordinateOf(s.dim, geoarrow.HasM), 6, 7},
	}
	for _, p := range places {
		if p[0] < 0 {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, run := range runs {
			for i := p[0]; i < len(run); i += s.dim.Size() {
				if v := run[i]; v == v {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		if low > high { // no measure at all
			low, high = noMeasure, noMeasure
		}
		box[p[1]], box[p[2]] = low, high
	}
	return box
}

// extend extends the box of the file.
func (s *shapes) extend(box [8]float64) {
	if !s.bound {
		s.bound, s.box = true, box
		return
	}
	for _, i := range []int{0, 1, 4, 6} {
		s.box[i] = min(s.box[i], box[i])
	}
	for _, i := range []int{2, 3, 5, 7} {
		s.box[i] = max(s.box[i], box[i])
	}
}

func appendDoubles(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// appendOrdinate appends the given ordinates of all positions. An m that is NaN is "no data".
func (s *shapes) appendOrdinate(b []byte, which ...int) []byte {
	for _, run := range s.runs {
		for i := 0; i < len(run); i += s.dim.Size() {
			for _, k := range which {
				v := run[i+k]
				if v != v {
					v = noMeasure
				}
				b = appendDoubles(b, v)
			}
		}
	}
	return b
}
