package flightsrv

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the stock codec
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// frame is a FlightData message whose body is not copied on its way to the socket.
//
//	head   data_header, then tag and length of data_body
//	body   the buffers of the record, with padding
//
// The slices are shared with the table and never change. Those of a table on the Go heap are the
// garbage collector's. Those of a mapped file are not: release ends the frame's own reference to
// the file once they are sent. It does no harm when gRPC drops a frame without a word because the
// connection was lost: the file is then unmapped when nothing points to it any more.
type frame struct {
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
func newFrame(p *ipc.Payload, parts [][]byte) (*frame, error) {
	meta := p.Meta()
	defer meta.Release()
	f := &frame{body: parts}
	if err := p.SerializeBody(f); err != nil {
		return nil, err
	}
	f.setHead(meta.Bytes())
	return f, nil
}

// setHead writes what goes before the body: the metadata, a copy, and the body's length.
func (f *frame) setHead(meta []byte) {
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
func (f *frame) Write(b []byte) (int, error) {
	f.body = append(f.body, b)
	f.bytes += len(b)
	return len(b), nil
}

// addMetadata gives the message its app_metadata.
func (f *frame) addMetadata(b []byte) {
	head := protowire.AppendTag(nil, fieldAppMetadata, protowire.BytesType)
	f.head = append(protowire.AppendBytes(head, b), f.head...)
}

// buffers are the parts of the body without the padding to 8 bytes, which is a part of its own
// behind each that needs it.
func (f *frame) buffers() (out [][]byte) {
	for i := 0; i < len(f.body); i++ {
		out = append(out, f.body[i])
		if len(f.body[i])%8 != 0 {
			i++
		}
	}
	return out
}

// size is the length of the message.
func (f *frame) size() int { return len(f.head) + f.bytes }

// codec writes frames as they are and leaves all other messages to the stock codec.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	return f.over.Lend(f.head, f.body, f.release), nil
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *frame:
		return errors.New("frames are only sent")
	case *received:
		v.err = c.CodecV2.Unmarshal(data, v.message)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
