package csv

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
)

// deviceRows reads a chunk of whole records on a device.
//
//	text -> fields ─┬─> kinds of each column ─┬─> numbers and booleans
//	                │                         ├─> dates
//	                │                         └─> texts -> times, by the host
//	                └─> points, or a text of WKT
type deviceRows struct {
	*device.Work
	dialect *dialect
	longest int64               // maximum length of a record's text
	asked   readers.Projection  // columns whose values are requested
	forced  []geoarrow.ColumnID // columns that must be text
	mixed   []geoarrow.ColumnID // columns of these rows that are text because they hold several kinds of values

	table *ktable.Table
	kinds []uint32           // of each column
	odd   gpu.Buffer[uint32] // one element: defects of numbers
}

// read reads the rows into a part.
func (d *deviceRows) read(part *readers.Part) {
	d.fields()
	d.odd = device.Alloc[uint32](d.Work, 1)
	kinds := device.Alloc[uint32](d.Work, len(d.dialect.names))
	if d.Stopped() {
		return
	}
	d.Try(gpu.Fill(d.S, d.odd, 0))
	d.Try(ktable.TableKinds(d.K, d.S, d.Text, d.table, kinds))
	part.State = parallel.PackState(0, d.table.Closed)
	d.kinds = device.Result(d.Work, kinds)
	still := device.Result(d.Work, d.table.StillOdd())
	if d.Await(); d.Stopped() {
		return
	}
	d.Accept(still[0] == 0, oddRecords)
	columns := &geoarrow.Columns{Rows: d.table.Rows}
	d.attributes(columns)
	switch { // queued after what the host waits for, since the columns are long
	case d.Stopped():
	case d.dialect.geometry == points:
		columns.Geometry = d.points()
	case d.dialect.geometry == wktCells:
		device.InRoom(d.Work, func(r *device.Scratch) { columns.Geometry = d.cells(part, r) })
	}
	part.Starts = device.Result(d.Work, d.table.Starts)
	d.checkLengths()
	odd := device.Result(d.Work, d.odd)
	d.After(func() { d.Accept(odd[0]&ktable.FieldWrong == 0, "an ordinate that is no finite number") })
	d.After(func() { d.Accept(odd[0] == 0, unsureNumber) })
	part.Columns, part.Rows = columns, int64(d.table.Rows)
}

// Reasons for refusing records.
const (
	oddRecords   = "a record of fewer or more fields than the header"
	unsureNumber = "a number that is very long, or very near to the middle of two"
)

// fields finds all fields.
func (d *deviceRows) fields() {
	columns := len(d.dialect.names)
	x, err := ktable.AllocTable(d.K, d.S, d.Text, ktable.Dialect{
		Delimiter: d.dialect.delimiter,
		Quote:     d.dialect.quote,
	},
		columns)
	if d.Try(err); err != nil {
		return
	}
	d.Later(func() error { return x.Free(d.S) })
	d.table = x
	switch {
	case x.Odd&ktable.TableStray != 0:
		d.Accept(false, "a quote inside of a field that does not begin with one, or text after a closing one")
	case x.Odd&ktable.TableOpen != 0:
		d.Accept(false, "a chunk that ends inside of quotes")
	case x.Odd != 0:
		d.Accept(false, oddRecords)
	}
	d.Accept(x.Rows > 0 || d.Stopped(), "no record")
	d.Accept(x.Rows*columns <= d.Text.Len()/2, "fields of hardly any text")
}

// checkLengths refuses records that the CPU engine would find too long. A record ends before the
// next one begins.
func (d *deviceRows) checkLengths() {
	longest := device.Alloc[int64](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(klist.LongestGap(d.K, d.S, d.table.Starts, int64(d.Text.Len()), longest))
	found := device.Result(d.Work, longest)
	d.After(func() { d.Accept(found[0] <= d.longest, "a record that is too long, or nearly so") })
}

// points makes the column of geometries.
func (d *deviceRows) points() *geoarrow.Geometry {
	n := d.table.Rows
	x, y, valid := device.Alloc[float64](d.Work, n), device.Alloc[float64](d.Work, n),
		device.Alloc[uint64](d.Work, kernels.Words(n))
	if d.Stopped() {
		return nil
	}
	at := map[use]int{}
	for _, i := range d.dialect.shape {
		at[d.dialect.fields[i]&(useX|useY)] = i
	}
	d.Try(ktable.TablePoints(d.K, d.S, d.Text, d.table, at[useX], at[useY], x, y, valid, d.odd))
	if !d.asked.Geometry() {
		return geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
	}
	g := &geoarrow.Geometry{Rows: n, Kind: geoarrow.Point, X: device.Result(d.Work, x), Y: device.Result(d.Work, y)}
	mask := device.Result(d.Work, valid)
	d.After(func() {
		if g.Nulls, g.Valid = device.Validity(mask, n); g.Nulls == n {
			*g = *geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
		}
	})
	return g
}
