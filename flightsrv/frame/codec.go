package frame

import (
	"errors"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the stock codec
	"google.golang.org/grpc/mem"
)

// Codec is a gRPC codec that sends frames without a copy, and other messages with the stock codec.
type Codec struct{ encoding.CodecV2 }

// NewCodec returns a codec that falls back to the codec "proto" of gRPC.
func NewCodec() Codec { return Codec{encoding.GetCodecV2("proto")} }

// Marshal lends the parts of a [*Frame] to its connection.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*Frame)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	return f.conn.Lend(f.head, f.body, f.release), nil
}

// Unmarshal refuses frames: they are only sent.
func (c Codec) Unmarshal(data mem.BufferSlice, v any) error {
	if _, ok := v.(*Frame); ok {
		return errors.New("frames are only sent")
	}
	return c.CodecV2.Unmarshal(data, v)
}
