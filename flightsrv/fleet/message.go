package fleet

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the stock codec
	"google.golang.org/grpc/mem"
)

// Message is a message of a forwarded call, which is not decoded. Its receiver frees it once.
type Message struct{ mem.BufferSlice }

// Parts returns the bytes of the message in order, until Free.
func (m *Message) Parts() [][]byte {
	parts := make([][]byte, 0, len(m.BufferSlice))
	for _, b := range m.BufferSlice {
		if b.Len() > 0 {
			parts = append(parts, b.ReadOnlyData())
		}
	}
	return parts
}

// codec is the codec of calls to other replicas: a *Message passes as bytes, and others by the stock
// codec.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

// Marshal returns the bytes of a *Message, whose use passes to gRPC.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*Message); ok {
		return m.BufferSlice, nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal keeps the bytes of a *Message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ok := v.(*Message); ok {
		data.Ref()
		m.BufferSlice = data
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
