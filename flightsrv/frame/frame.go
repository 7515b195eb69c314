// Package frame makes the messages of a Flight stream: schemas and record batches as FlightData
// (Flight.proto), in Arrow's IPC format, without a copy of the batches' buffers.
//
// It knows Arrow's columnar format and protobuf's wire format, and nothing of tickets but their
// compression. A batch whose row does not fit into a message is a readers.LimitError.
package frame

import (
	"encoding/binary"
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
// The slices are shared with the table and never change. The garbage collector frees those of a
// table on the Go heap. For those of a mapped file, release ends the frame's own reference to the
// file after they are sent. gRPC drops a frame silently when the connection is lost: the file is
// then unmapped when nothing refers to it any more.
type Frame struct {
	head    []byte
	body    [][]byte
	header  []byte     // data_header, inside head
	bytes   int        // of the body
	release func()     // called once after Marshal; nil: nothing to release
	conn    *wire.Conn // the frame is sent on
}

// Field numbers of FlightData in Flight.proto.
const (
	fieldDataHeader  protowire.Number = 2
	fieldAppMetadata protowire.Number = 3
	fieldDataBody    protowire.Number = 1000
)

// newFrame makes a frame of a payload. It reuses the array of parts for the body.
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

// setHead writes what precedes the body: a copy of the metadata, and the length of the body.
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

// OfParts returns a frame of a message that is encoded already, in parts.
func OfParts(parts [][]byte) *Frame {
	f := &Frame{body: parts}
	for _, b := range parts {
		f.bytes += len(b)
	}
	return f
}

// Write keeps b: SerializeBody passes the buffers of the body to it.
func (f *Frame) Write(b []byte) (int, error) {
	f.body = append(f.body, b)
	f.bytes += len(b)
	return len(b), nil
}

// Bind sets the connection that the frame is sent on, and release, which is called once after
// Marshal if it is not nil.
func (f *Frame) Bind(conn *wire.Conn, release func()) { f.conn, f.release = conn, release }

// Keep makes the frame valid after the next call of the encoder, which reuses the list of parts.
func (f *Frame) Keep() { f.body = slices.Clone(f.body) }

// AddMetadata sets app_metadata of the message.
func (f *Frame) AddMetadata(b []byte) {
	head := protowire.AppendTag(nil, fieldAppMetadata, protowire.BytesType)
	f.head = append(protowire.AppendBytes(head, b), f.head...)
}

// Encapsulated returns the message in the form of streams and files (Arrow columnar format,
// "Encapsulated message format"), whose first part is appended to b:
//
//	ff ff ff ff | length, int32 little-endian | data_header | zeros up to a multiple of 8 | body
//
// The body is that of the frame, and valid as long.
func (f *Frame) Encapsulated(b []byte) (head []byte, body [][]byte) {
	n := len(f.header)
	b = append(b, 0xff, 0xff, 0xff, 0xff)
	b = binary.LittleEndian.AppendUint32(b, uint32(n+padding(n)))
	return append(append(b, f.header...), zeros[:padding(n)]...), f.body
}

// buffers returns the parts of the body without padding. The padding to 8 bytes is a part of its
// own after each buffer that needs it.
func (f *Frame) buffers() (out [][]byte) {
	for i := 0; i < len(f.body); i++ {
		out = append(out, f.body[i])
		if len(f.body[i])%8 != 0 {
			i++
		}
	}
	return out
}

// Size is the length of the message in bytes.
func (f *Frame) Size() int { return len(f.head) + f.bytes }
