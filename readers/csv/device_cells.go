package csv

import (
	"bytes"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// longRecord is the average size of records from which on some have a geometry of more than 256
// bytes.
const longRecord = 128

// cells makes the column of geometries from a column of WKT: the fields become a text of lines,
// which the WKT engine reads.
func (d *deviceRows) cells(part *readers.Part, r *device.Scratch) *geoarrow.Geometry {
	n := d.table.Rows
	d.Accept(n <= d.Text.Len()/8, shortRecords)
	t := deviceTexts{
		starts: device.RoomFor[int64](r, n), ends: device.RoomFor[int64](r, n),
		offsets: device.RoomFor[int64](r, n+1), valid: device.RoomFor[uint64](r, kernels.Words(n)),
	}
	moved := device.RoomFor[int64](r, n+1)
	if d.Stopped() {
		return nil
	}
	d.Try(ktable.CellSpans(d.K, d.S, d.Text, d.table, d.dialect.shape[0], t.starts, t.ends, t.valid))
	size := d.measureText(&t, ktext.StringsRaw, d.Text.Len() > n*longRecord, r)
	if d.Stopped() {
		return nil
	}
	lines := device.RoomFor[byte](r, int(size)+n*ktable.CellLine)
	if d.Stopped() {
		return nil
	}
	d.Try(ktable.CellLines(d.K, d.S, t.strings, t.offsets, t.valid, moved, lines))
	found := wkt.ReadCells(d.Work, lines, n, &part.Summary)
	d.checkCells(found, lines, moved, r)
	mask := device.Result(d.Work, t.valid)
	d.After(func() {
		count, valid := device.Validity(mask, n)
		d.Accept(found.Geometry.Nulls == count && (count == n || bytes.Equal(found.Geometry.Valid, valid)), oddCells)
		part.State = parallel.PackState(found.SRID, d.table.Closed)
	})
	if !d.asked.Geometry() {
		return geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
	}
	return found.Geometry
}

// oddCells is the reason for refusing fields that may be several geometries, or none.
const oddCells = "a geometry with quotes, or with a semicolon or a line end around it"

// checkCells checks that each line is one row, without a semicolon except that of its SRID.
func (d *deviceRows) checkCells(found *wkt.DeviceCells, lines gpu.Buffer[byte], moved gpu.Buffer[int64],
	r *device.Scratch,
) {
	report := device.RoomFor[ktable.CellsReport](r, 1)
	if d.Stopped() {
		return
	}
	d.Try(ktable.CheckCells(d.K, d.S, lines, moved, found.Starts, report))
	seen := device.Result(d.Work, report)
	d.After(func() { d.Accept(seen[0].Odd == 0 && seen[0].Semicolons == seen[0].SRIDs, oddCells) })
}
