package export

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// bind binds a value that is not null to a parameter of the insert. Values without a type of SQLite
// are text: dates and times in ISO 8601, lists and structs as JSON, geometries as WKT.
func (w *geoPackage) bind(param int, f arrow.Field, column arrow.Array, i int) error {
	switch a := column.(type) {
	case *array.Boolean:
		return w.insert.BindBool(param, a.Value(i))
	case *array.Int8:
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Int16:
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Int32:
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Int64:
		return w.insert.BindInt64(param, a.Value(i))
	case *array.Uint8:
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Uint16:
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Uint32:
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Uint64:
		if a.Value(i) > math.MaxInt64 {
			return fmt.Errorf("column %q: %d is more than an INTEGER of GeoPackage can hold", f.Name, a.Value(i))
		}
		return w.insert.BindInt64(param, int64(a.Value(i)))
	case *array.Float32:
		return w.bindFloat(param, f, float64(a.Value(i)))
	case *array.Float64:
		return w.bindFloat(param, f, a.Value(i))
	case *array.Binary:
		if !isWKB(f) {
			return w.insert.BindBlob(param, a.Value(i))
		}
	}
	var err error
	if w.text, err = w.appendText(w.text[:0], f, column, i); err != nil {
		return fmt.Errorf("column %q: %w", f.Name, err)
	}
	return w.insert.BindRawText(param, w.text)
}

// bindFloat binds a number. SQLite stores NaN as NULL.
func (w *geoPackage) bindFloat(param int, f arrow.Field, v float64) error {
	if math.IsNaN(v) {
		return fmt.Errorf("column %q: GeoPackage has no NaN, which would become NULL", f.Name)
	}
	return w.insert.BindFloat(param, v)
}

// appendText is AppendText, with instants in UTC and three decimals of the second at least, as the
// standard has them.
func (w *geoPackage) appendText(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
	a, ok := column.(*array.Timestamp)
	if !ok || f.Type.(*arrow.TimestampType).TimeZone == "" {
		return AppendText(dst, f, column, i)
	}
	at := a.Value(i).ToTime(f.Type.(*arrow.TimestampType).Unit).UTC()
	layout := "2006-01-02T15:04:05.000Z"
	if at.Nanosecond()%1e6 != 0 {
		layout = "2006-01-02T15:04:05.999999999Z"
	}
	if year := at.Year(); year < 0 || year > 9999 {
		return dst, fmt.Errorf("the year %d has not four digits", year)
	}
	return at.AppendFormat(dst, layout), nil
}
