package dbf

import (
	"github.com/vibeflight/vibeflight/gpu"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// DeviceAttributes are the records of a table that a device reads as the attributes of another
// file's rows.
type DeviceAttributes struct{ d deviceRecords }

// QueueAttributes queues the work on whole records of a table that is OnDevice. w receives what the
// device refuses.
func QueueAttributes(w *device.Work, h *Header, records gpu.Buffer[byte]) *DeviceAttributes {
	a := &DeviceAttributes{deviceRecords{Work: w, h: h, text: records}}
	a.d.queue()
	return a
}

// Rows returns the records that are rows, on the device: their numbers and their count.
func (a *DeviceAttributes) Rows() kfixed.FixedRecords { return a.d.records }

// Finish returns the columns, after an Await without an error. The bytes of texts are valid after
// the next Await.
func (a *DeviceAttributes) Finish() *geoarrow.Columns {
	if !a.d.Stopped() {
		a.d.finish()
	}
	return a.d.columns
}
