package wkt

import (
	"github.com/vibeflight/vibeflight/gpu"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// DeviceCells is geometries that a device reads. They are complete in functions that are passed to
// After later than those of ReadCells.
type DeviceCells struct {
	Geometry *geoarrow.Geometry
	Starts   gpu.Buffer[int64] // first byte of each row, in the text
	SRID     int32             // of all rows that have one; 0: none
}

// ReadCells reads the geometries of lines on a device, as Cell reads each of them: EWKT, or NULL
// for none. The caller ensures that each line is one row, without a semicolon except that of an
// SRID. w receives what the device refuses.
func ReadCells(w *device.Work, lines gpu.Buffer[byte], rows int, sum *readers.Summary) *DeviceCells {
	d, c := deviceRows{Work: w, deviceText: deviceText{text: lines}}, &DeviceCells{}
	peek := device.Result(w, lines.Slice(0, min(peekBytes, lines.Len())))
	if w.Stopped() {
		return c
	}
	if d.parse(&d.deviceText, kwkt.WKTLines); w.Stopped() {
		return c
	}
	w.Accept(d.x.Rows == rows, unlike)
	found := device.Result(w, d.x.Found)
	c.Geometry, c.Starts = d.geometry(hasThird(peek), sum), d.x.Starts
	w.After(func() {
		f := found[0]
		w.Accept(f.Fault < 0, unlike)
		w.Accept(f.Least < 0 || f.Least == f.Most(), "several SRIDs")
		c.SRID = int32(f.Most())
	})
	return c
}
