package union

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func shapeOf(name string, facts geoarrow.Facts) *readers.Shape {
	return &readers.Shape{IDs: []geoarrow.ColumnID{{Name: name}}, Facts: []geoarrow.Facts{facts}}
}

func declared(t string) geoarrow.Facts {
	return geoarrow.Facts{Kinds: geoarrow.FactDeclared, Declared: t}
}

func kinds(k geoarrow.FactKinds) geoarrow.Facts { return geoarrow.Facts{Kinds: k} }

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b geoarrow.Facts
		want string // the type; "": an error
	}{
		{"integers", kinds(geoarrow.FactInt32), kinds(geoarrow.FactInt64), "int64"},
		{"integer and fraction", kinds(geoarrow.FactInt32), kinds(geoarrow.FactFloat), "float64"},
		{"number and text", kinds(geoarrow.FactInt32), kinds(geoarrow.FactString), "utf8"},
		{"nulls", kinds(0), kinds(geoarrow.FactFloat), "float64"},
		{"declared, equal", declared("int8"), declared("int8"), "int8"},
		{"declared, wider", declared("int32"), declared("int64"), "int64"},
		{"declared, float64", declared("int64"), declared("float64"), "float64"},
		{"declared, text", declared("int64"), declared("utf8"), ""},
		{"declared, date", declared("date32"), declared("timestamp[us]"), "timestamp[us]"},
		{"declared, zones", declared("timestamp[us]"), declared("timestamp[us, UTC]"), ""},
		{"declared and found", declared("int64"), kinds(geoarrow.FactInt32), "int64"},
		{"declared and nulls", declared("int8"), kinds(0), "int8"},
		{"declared and other", declared("int64"), kinds(geoarrow.FactString), ""},
	} {
		for _, order := range [][2]geoarrow.Facts{{c.a, c.b}, {c.b, c.a}} {
			u := New(readers.Limits{})
			err := errors.Join(u.Add(shapeOf("x", order[0]), false), u.Add(shapeOf("x", order[1]), false))
			got := ""
			if err == nil {
				got, _ = geoarrow.TypeName(u.Shape().Facts[0].Resolve(0).Type)
			}
			var unfit *Error
			if got != c.want || c.want == "" && (!errors.As(err, &unfit) || unfit.Column != "x") {
				t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
			}
		}
	}
}

func TestGeometries(t *testing.T) {
	shape := func(k geoarrow.Kind, d geoarrow.Dim, crs geoarrow.CRS) *readers.Shape {
		return &readers.Shape{Shapes: true, Kind: k, Dim: d, CRS: crs}
	}
	for _, c := range []struct {
		name string
		a, b geoarrow.Kind
		want geoarrow.Kind
	}{
		{"equal", geoarrow.Point, geoarrow.Point, geoarrow.Point},
		{"single and several", geoarrow.Polygon, geoarrow.MultiPolygon, geoarrow.MultiPolygon},
		{"several and single", geoarrow.MultiPolygon, geoarrow.Polygon, geoarrow.MultiPolygon},
		{"different", geoarrow.Point, geoarrow.Polygon, geoarrow.NoKind},
	} {
		u := New(readers.Limits{})
		err := errors.Join(u.Add(shape(c.a, geoarrow.XY, geoarrow.CRS84), true),
			u.Add(shape(geoarrow.NoKind, geoarrow.XY, geoarrow.CRS84), false), // nulls only
			u.Add(&readers.Shape{}, false), u.Add(shape(c.b, geoarrow.XYZ, geoarrow.CRS84), true))
		if got := u.Shape(); err != nil || got.Kind != c.want || got.Dim != geoarrow.XYZ {
			t.Errorf("%s: %v %v, %v, want %v", c.name, got.Kind, got.Dim, err, c.want)
		}
		var unfit *Error
		other := geoarrow.CRS{Authority: "EPSG", Code: "3857"}
		if err := u.Add(shape(c.a, geoarrow.XY, other), true); !errors.As(err, &unfit) || unfit.Column != "geometry" {
			t.Errorf("%s: %v, want an error of the reference system", c.name, err)
		}
	}
}

// TestFit gives rows the columns of a union, and says which text it needs.
func TestFit(t *testing.T) {
	ints := geoarrow.Column{
		Name: "x", Type: arrow.PrimitiveTypes.Int64, Facts: declared("int64"),
		Values: geoarrow.AsBytes([]int64{1, 1<<53 + 1}),
	}
	rows := &geoarrow.Columns{Rows: 2, Attributes: []geoarrow.Column{ints}}
	id := geoarrow.ColumnID{Name: "x"}
	for _, c := range []struct {
		name string
		to   geoarrow.Facts
		rows int
		text int
		err  bool
	}{
		{"same", declared("int64"), 2, 0, false},
		{"exact", declared("float64"), 1, 0, false},
		{"not exact", declared("float64"), 2, 0, true},
		{"text", kinds(geoarrow.FactString), 2, 1, false},
		{"narrower", kinds(geoarrow.FactInt32), 2, 0, true},
	} {
		to := shapeOf("x", c.to)
		to.IDs = append(to.IDs, geoarrow.ColumnID{Name: "y"})
		to.Facts = append(to.Facts, kinds(geoarrow.FactBool))
		out, text, err := NewFitter(to, []geoarrow.ColumnID{id}).Fit(rows.Slice(0, c.rows), nil)
		if len(text) != c.text || (err != nil) != c.err {
			t.Errorf("%s: text of %v, %v", c.name, text, err)
		}
		if err == nil && len(text) == 0 && (len(out.Attributes) != 2 || out.Attributes[1].Nulls != c.rows) {
			t.Errorf("%s: %+v, want a column of nulls too", c.name, out.Attributes)
		}
	}
}
