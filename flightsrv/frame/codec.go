package frame

import (
	"errors"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the stock codec
	"google.golang.org/grpc/mem"
)

// Codec writes frames as they are and leaves all other messages to the stock codec.
type Codec struct{ encoding.CodecV2 }

func NewCodec() Codec { return Codec{encoding.GetCodecV2("proto")} }

func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*Frame)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	return f.over.Lend(f.head, f.body, f.release), nil
}

func (c Codec) Unmarshal(data mem.BufferSlice, v any) error {
	if _, ok := v.(*Frame); ok {
		return errors.New("frames are only sent")
	}
	return c.CodecV2.Unmarshal(data, v)
}
