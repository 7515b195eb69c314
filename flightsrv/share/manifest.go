package share

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net"
	"os"

	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// described is the byte before a Manifest.
const described = 'D'

// Manifest describes a table in the memory of a GPU: the metadata of Arrow's dissociated IPC, and for
// each record batch the places of its buffers, as JSON. On the socket it follows the byte 'D' and its
// length in 4 bytes, little-endian.
type Manifest struct {
	Device      Device       `json:"device"`
	Schema      []byte       `json:"schema"`          // a Schema message of Arrow IPC
	Event       []byte       `json:"event,omitempty"` // for cuIpcOpenEventHandle; happens when all bytes are there
	Allocations []Allocation `json:"allocations"`
	Batches     []Batch      `json:"batches"`
}

// Device names a GPU.
type Device struct {
	Ordinal int    `json:"ordinal"` // in the server's order
	UUID    string `json:"uuid"`    // "GPU-…"
	Type    string `json:"type"`    // "cuda"; "host": emulated, and the allocations are files to be mapped
}

// Allocation is memory of a table.
type Allocation struct {
	Handle []byte `json:"handle,omitempty"` // for cuIpcOpenMemHandle
	Bytes  int64  `json:"bytes"`
}

// Batch is some rows of a table. Nodes and Buffers are in the order of a RecordBatch message.
type Batch struct {
	Rows    int        `json:"rows"`
	Nodes   [][2]int   `json:"nodes"`   // length, nulls
	Buffers [][3]int64 `json:"buffers"` // allocation, offset, length; length 0: absent
}

// tableGift is a table on a GPU.
type tableGift struct {
	text  []byte
	files []*os.File // of an emulated device
}

// Table returns the gift of a table on a GPU, which stays there until the gift's release.
func Table(c *resident.Contents) (Gift, error) {
	var schema bytes.Buffer
	if err := ipc.NewWriter(&schema, ipc.WithSchema(c.Schema)).Close(); err != nil {
		return nil, err
	}
	const endOfStream = 8 // bytes after the schema
	m := Manifest{
		Device:      Device{Ordinal: c.Device.Ordinal, UUID: c.Device.UUID, Type: "cuda"},
		Schema:      schema.Bytes()[:schema.Len()-endOfStream],
		Allocations: []Allocation{}, Batches: []Batch{},
	}
	g := &tableGift{}
	if c.Device.Emulated {
		m.Device.Type = "host"
	} else {
		m.Event = c.Event.IPC[:]
	}
	for _, s := range c.Slabs {
		a := Allocation{Bytes: s.Bytes}
		if c.Device.Emulated {
			g.files = append(g.files, s.Handle.File)
		} else {
			a.Handle = s.Handle.IPC[:]
		}
		m.Allocations = append(m.Allocations, a)
	}
	for _, b := range c.Batches {
		out := Batch{Rows: b.Rows, Nodes: [][2]int{}, Buffers: [][3]int64{}}
		for _, n := range b.Nodes {
			out.Nodes = append(out.Nodes, [2]int{n.Length, n.Nulls})
			for _, p := range n.Buffers {
				out.Buffers = append(out.Buffers, [3]int64{int64(p.Slab), p.Offset, p.Bytes})
			}
		}
		m.Batches = append(m.Batches, out)
	}
	text, err := json.Marshal(m)
	g.text = text
	return g, err
}

// Give sends the manifest.
func (g *tableGift) Give(c *net.UnixConn) error {
	if err := system.PassFiles(c, described, g.files...); err != nil {
		return err
	}
	_, err := c.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(g.text))), g.text...))
	return err
}

// Close does nothing: the memory belongs to the table.
func (g *tableGift) Close() error { return nil }
