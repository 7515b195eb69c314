package geoarrow

// Kind is a geometry type, numbered as in WKB (OGC 06-103r4, table 2).
type Kind uint8

const (
	NoKind Kind = iota // a null geometry, or a column without a native encoding
	Point
	LineString
	Polygon
	MultiPoint
	MultiLineString
	MultiPolygon
	GeometryCollection
)

// Multi returns the Multi kind of k: MultiPoint for Point. It returns a Multi kind and
// GeometryCollection unchanged.
func (k Kind) Multi() Kind {
	if k >= Point && k <= Polygon {
		return k + 3
	}
	return k
}

// Join is the kind that holds the geometries of two columns: a kind and its Multi kind give the Multi
// kind, anything else gives NoKind, which is WKB.
func (k Kind) Join(o Kind) Kind {
	switch {
	case k == o || o != NoKind && o.Multi() == k:
		return k
	case k != NoKind && k.Multi() == o:
		return o
	}
	return NoKind
}

// IsMulti reports whether k is MultiPoint, MultiLineString or MultiPolygon.
func (k Kind) IsMulti() bool { return k >= MultiPoint && k <= MultiPolygon }

// String returns the name of the kind as in RFC 7946, section 1.4.
func (k Kind) String() string {
	return [...]string{
		"null", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString",
		"MultiPolygon", "GeometryCollection",
	}[k]
}

// Dim is the set of ordinates in addition to x and y.
type Dim uint8

const (
	XY   Dim = 0
	HasZ Dim = 1
	HasM Dim = 2
	XYZ      = HasZ
	XYM      = HasM
	XYZM     = HasZ | HasM
)

// Size returns the number of ordinates of a position, 2 to 4.
func (d Dim) Size() int { return 2 + int(d&1) + int(d>>1&1) }

// RowKind is the kind and dimension of one geometry, as in the file; 0 for a null geometry.
type RowKind uint8

// MakeRowKind packs a kind and a dimension.
func MakeRowKind(k Kind, d Dim) RowKind { return RowKind(k) | RowKind(d)<<3 }

// Kind returns the geometry's kind.
func (r RowKind) Kind() Kind { return Kind(r & 7) }

// Dim returns the geometry's own dimension.
func (r RowKind) Dim() Dim { return Dim(r >> 3) }

// Geometry is a column of geometries, either in one of the six native encodings or as ISO WKB.
//
// Native: Kind is the column's kind, Dim its dimension; coordinates are separated. n is Rows.
//
//	Kind                        Geoms           Parts              Rings
//	Point                       -               -                  -                  row i is position i: 0
//	                            under a null, NaN in every ordinate if empty
//	LineString, MultiPoint      n+1, positions  -                  -
//	Polygon, MultiLineString    n+1, rings      -                  rings+1, positions
//	MultiPolygon                n+1, parts      parts+1, rings     rings+1, positions
//
// ("rings" are the lines of a MultiLineString.) All offsets start at 0. Z and M are nil if Dim
// lacks them, otherwise as long as X, with NaN for a position without that ordinate. Every NaN is
// 0x7ff8000000000000. A null row has no positions, except in a column of Points.
//
// WKB: Kind is NoKind, Dim the union of the rows' dimensions; Offsets (n+1, bytes) and WKB hold the
// rows, little-endian, each with the kind and dimension that it has in the file. Null rows are
// empty byte strings.
//
// Kinds has the kind and dimension of each row in the file. In a native column it is nil if every
// non-null row has the column's Kind and Dim. It allows WKB and WKT to undo promotion and padding.
type Geometry struct {
	Rows  int
	Kind  Kind
	Dim   Dim
	Nulls int
	Valid []byte // as in Column
	Kinds []RowKind

	Geoms, Parts, Rings []int32
	X, Y, Z, M          []float64

	Offsets []int32
	WKB     []byte
}

// Bytes returns the size of all slices, in bytes.
func (g *Geometry) Bytes() int64 {
	return int64(len(g.Valid)) + int64(len(g.Kinds)) + 4*int64(len(g.Geoms)+len(g.Parts)+len(g.Rings)+len(g.Offsets)) +
		8*int64(len(g.X)+len(g.Y)+len(g.Z)+len(g.M)) + int64(len(g.WKB))
}

// Shape is a view of one geometry other than a collection: its ranges in the coordinate and offset
// slices, for every level of its kind.
//
//	positions [C0, C1)    every kind; an empty Point has C0 == C1
//	rings     [R0, R1)    Polygon, MultiLineString, MultiPolygon: ring i ends at Rings[i+1] and starts where
//	                      the one before ends, the first at C0
//	parts     [P0, P1)    MultiPolygon: part i ends at Parts[i+1] and starts where the one before ends, the
//	                      first at R0
//
// Only ends are read, because in a builder positions of other kinds may be between the rings of
// two rows.
type Shape struct {
	Kind           Kind
	Dim            Dim // ordinates to write; X, Y, and Z, M if Dim has them
	X, Y, Z, M     []float64
	Rings, Parts   []int32
	C0, C1         int32
	R0, R1, P0, P1 int32
}

// Shape returns a view of row i of a native column, with the kind and dimension that it has in the
// file: promotion is undone. A Point in a MultiPoint column has 0 or 1 positions, a Polygon in a
// MultiPolygon column has its rings, and a promoted empty geometry has neither. ok is false for a
// null row.
func (g *Geometry) Shape(i int) (s Shape, ok bool) {
	s = g.view()
	return s, g.moveTo(&s, i)
}

// view returns a Shape of the column's slices, to be moved from row to row.
func (g *Geometry) view() Shape {
	return Shape{X: g.X, Y: g.Y, Z: g.Z, M: g.M, Rings: g.Rings, Parts: g.Parts}
}

// moveTo moves a view to row i. It returns false for a null row, and the view is then undefined.
func (g *Geometry) moveTo(s *Shape, i int) bool {
	if !g.valid(i) {
		return false
	}
	own := g.rowKind(i)
	s.Kind, s.Dim = own.Kind(), own.Dim()
	if g.Kind == Point {
		s.C0, s.C1 = int32(i), int32(i+1)
		if s.allNaN(s.C0) {
			s.C1 = s.C0
		}
		return true
	}
	from, to := g.Geoms[i], g.Geoms[i+1]
	switch g.Kind {
	case MultiPolygon:
		s.P0, s.P1 = from, to
		from, to = g.Parts[from], g.Parts[to]
		fallthrough
	case Polygon, MultiLineString:
		s.R0, s.R1 = from, to
		from, to = g.Rings[from], g.Rings[to]
	}
	s.C0, s.C1 = from, to
	return true
}

func (g *Geometry) valid(i int) bool { return g.Valid == nil || g.Valid[i>>3]>>(i&7)&1 == 1 }

// rowKind returns the kind and dimension of row i in the file. The row is not null.
func (g *Geometry) rowKind(i int) RowKind {
	if g.Kinds != nil {
		return g.Kinds[i]
	}
	return MakeRowKind(g.Kind, g.Dim)
}

// positionsOf returns the range of the positions of row i of a native column other than Point.
func (g *Geometry) positionsOf(i int) (c0, c1 int32) {
	from, to := g.Geoms[i], g.Geoms[i+1]
	switch g.Kind {
	case LineString, MultiPoint:
		return from, to
	case MultiPolygon:
		from, to = g.Parts[from], g.Parts[to]
	}
	return g.Rings[from], g.Rings[to]
}
