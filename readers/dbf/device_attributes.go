package dbf

import (
	"github.com/vibeflight/vibeflight/gpu"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// DeviceAttributes are the records of a table that a device reads for another file, whose rows'
// attributes they are.
type DeviceAttributes struct{ d deviceRecords }

// QueueAttributes queues the work on whole records of a table that is OnDevice. What a device does
// not accept it says to w.
func QueueAttributes(w *device.Work, h *Header, records gpu.Buffer[byte]) *DeviceAttributes {
	a := &DeviceAttributes{deviceRecords{Work: w, h: h, text: records}}
	a.d.queue()
	return a
}

// Rows returns the records that are rows, on the device: their numbers, and how many these are.
func (a *DeviceAttributes) Rows() kfixed.FixedRecords { return a.d.records }

// Finish returns the columns, after an Await, if nothing is wrong. Bytes of texts are there behind
// the next Await.
func (a *DeviceAttributes) Finish() *geoarrow.Columns {
	if !a.d.Stopped() {
		a.d.finish()
	}
	return a.d.columns
}
