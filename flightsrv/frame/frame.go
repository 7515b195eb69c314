// Package frame makes the messages of a Flight stream: schemas and record batches as FlightData
// (Flight.proto), in Arrow's IPC format, without a copy of the batches' buffers.
//
// It knows Arrow's columnar format and protobuf's wire format, and nothing of tickets but their
// compression. A batch whose row does not fit into a message is a readers.LimitError.
package frame

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// Frame is a FlightData message whose body is not copied on its way to the socket.
//
//	head   data_header, then tag and length of data_body
//	body   the buffers of the record, with padding
//
// The slices are shared with the table and never change. Those of a table on the Go heap are the
// garbage collector's. Those of a mapped file are not: release ends the frame's own reference to
// the file once they are sent. It does no harm when gRPC drops a frame without a word because the
// connection was lost: the file is then unmapped when nothing points to it any more.
type Frame struct {
	head    []byte
	body    [][]byte
	header  []byte     // data_header, inside head
	bytes   int        // of the body
	release func()     // called once behind Marshal; nil: nothing to release
	over    *wire.Conn // that it is sent over
}

// Field numbers of FlightData in Flight.proto.
const (
	fieldDataHeader  protowire.Number = 2
	fieldAppMetadata protowire.Number = 3
	fieldDataBody    protowire.Number = 1000
)

// newFrame makes a frame of a payload, with the room of parts for its body.
func newFrame(p *ipc.Payload, parts [][]byte) (*Frame, error) {
	meta := p.Meta()
	defer meta.Release()
	f := &Frame{body: parts}
	if err := p.SerializeBody(f); err != nil {
		return nil, err
	}
	f.setHead(meta.Bytes())
	return f, nil
}

// setHead writes what goes before the body: the metadata, a copy, and the body's length.
func (f *Frame) setHead(meta []byte) {
	f.head = make([]byte, 0, len(meta)+16)
	f.head = protowire.AppendTag(f.head, fieldDataHeader, protowire.BytesType)
	f.head = protowire.AppendBytes(f.head, meta)
	f.header = f.head[len(f.head)-len(meta):]
	if f.bytes > 0 {
		f.head = protowire.AppendTag(f.head, fieldDataBody, protowire.BytesType)
		f.head = protowire.AppendVarint(f.head, uint64(f.bytes))
	}
}

// Write keeps b: it is how SerializeBody hands out the buffers.
func (f *Frame) Write(b []byte) (int, error) {
	f.body = append(f.body, b)
	f.bytes += len(b)
	return len(b), nil
}

// Bind names the connection that the frame is sent over. release is called once, after Marshal; nil
// means that there is nothing to release.
func (f *Frame) Bind(over *wire.Conn, release func()) { f.over, f.release = over, release }

// Keep makes the frame outlive the next call of the encoder, which uses the list of parts again.
func (f *Frame) Keep() { f.body = slices.Clone(f.body) }

// AddMetadata gives the message its app_metadata.
func (f *Frame) AddMetadata(b []byte) {
	head := protowire.AppendTag(nil, fieldAppMetadata, protowire.BytesType)
	f.head = append(protowire.AppendBytes(head, b), f.head...)
}

// buffers are the parts of the body without the padding to 8 bytes, which is a part of its own
// behind each that needs it.
func (f *Frame) buffers() (out [][]byte) {
	for i := 0; i < len(f.body); i++ {
		out = append(out, f.body[i])
		if len(f.body[i])%8 != 0 {
			i++
		}
	}
	return out
}

// Size is the length of the message.
func (f *Frame) Size() int { return len(f.head) + f.bytes }
