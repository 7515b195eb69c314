package geoarrow

// Kind is a geometry type, numbered as in WKB (OGC 06-103r4, table 2).
type Kind uint8

const (
	NoKind Kind = iota // a null geometry; a column whose kinds have no native encoding
	Point
	LineString
	Polygon
	MultiPoint
	MultiLineString
	MultiPolygon
	GeometryCollection
)

// Multi is the kind that holds several of k: Point gives MultiPoint; a Multi kind and
// GeometryCollection give themselves.
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

// String is the name of the kind as in RFC 7946, section 1.4.
func (k Kind) String() string {
	return [...]string{
		"null", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString",
		"MultiPolygon", "GeometryCollection",
	}[k]
}

// Dim is the set of ordinates next to x and y.
type Dim uint8

const (
	XY   Dim = 0
	HasZ Dim = 1
	HasM Dim = 2
	XYZ      = HasZ
	XYM      = HasM
	XYZM     = HasZ | HasM
)

// Size is the number of ordinates of a position, 2 to 4.
func (d Dim) Size() int { return 2 + int(d&1) + int(d>>1&1) }

// RowKind is what the file says of one geometry: its kind and its own dimension; 0 for a null
// geometry.
type RowKind uint8

// MakeRowKind packs a kind and a dimension.
func MakeRowKind(k Kind, d Dim) RowKind { return RowKind(k) | RowKind(d)<<3 }

// Kind is the geometry's kind.
func (r RowKind) Kind() Kind { return Kind(r & 7) }

// Dim is the geometry's own dimension.
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
// ("rings" are the lines of a MultiLineString.) All offsets start at 0. Z and M are nil where Dim
// lacks them, and as long as X where it has them; a position without that ordinate holds NaN there.
// Every NaN is 0x7ff8000000000000. A null row that is no Point has no positions.
//
// WKB: Kind is NoKind, Dim the union of the rows' dimensions; Offsets (n+1, bytes) and WKB hold the
// rows, each little-endian, of the kind and the dimension that the file says. Null rows are empty
// byte strings.
//
// Kinds holds what the file says of each row, or is nil where every row that is not null has the
// column's Kind and Dim (native only: a WKB column always has Kinds). It is what lets WKB and WKT
// undo promotion and padding.
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

// Bytes is the size of all slices, in bytes.
func (g *Geometry) Bytes() int64 {
	return int64(len(g.Valid)) + int64(len(g.Kinds)) + 4*int64(len(g.Geoms)+len(g.Parts)+len(g.Rings)+len(g.Offsets)) +
		8*int64(len(g.X)+len(g.Y)+len(g.Z)+len(g.M)) + int64(len(g.WKB))
}

// Shape is a view of one geometry that is no collection: ranges of the coordinate and offset slices
// that hold it, of every level that its kind has.
//
//	positions [C0, C1)    every kind; an empty Point has C0 == C1
//	rings     [R0, R1)    Polygon, MultiLineString, MultiPolygon: ring i ends at Rings[i+1] and starts where
//	                      the one before ends, the first at C0
//	parts     [P0, P1)    MultiPolygon: part i ends at Parts[i+1] and starts where the one before ends, the
//	                      first at R0
//
// Only ends are read, because in a builder positions of other kinds may stand between the rings of
// two rows.
type Shape struct {
	Kind           Kind
	Dim            Dim // ordinates to write; X, Y, and Z, M where Dim has them
	X, Y, Z, M     []float64
	Rings, Parts   []int32
	C0, C1         int32
	R0, R1, P0, P1 int32
}

// Shape gives a view of row i of a native column, of the kind and the dimension that the file says:
// promotion is undone. A Point in a column of MultiPoint has 0 or 1 positions, a Polygon in one of
// MultiPolygon its rings; a promoted empty geometry has none. ok is false for a null row.
func (g *Geometry) Shape(i int) (s Shape, ok bool) {
	s = g.view()
	return s, g.moveTo(&s, i)
}

// view gives a Shape of the column's slices, to be moved from row to row.
func (g *Geometry) view() Shape {
	return Shape{X: g.X, Y: g.Y, Z: g.Z, M: g.M, Rings: g.Rings, Parts: g.Parts}
}

// moveTo makes a view that of row i; it gives false, and the view is of no use, for a null row.
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

// rowKind is what the file says of row i, which is not null.
func (g *Geometry) rowKind(i int) RowKind {
	if g.Kinds != nil {
		return g.Kinds[i]
	}
	return MakeRowKind(g.Kind, g.Dim)
}

// positionsOf gives the range of the positions of row i of a native column that is not one of
// Point.
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
