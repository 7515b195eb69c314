package frame

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// payloadWriter is an ipc.PayloadWriter that keeps the frame of the last payload.
type payloadWriter struct {
	w     *ipc.Writer
	last  *Frame
	parts [][]byte // of the last body, to be used again
}

func newPayloadWriter(schema *arrow.Schema, opts ...ipc.Option) *payloadWriter {
	c := &payloadWriter{}
	c.w = ipc.NewWriterWithPayloadWriter(c, append(opts, ipc.WithSchema(schema))...)
	return c
}

// frame encodes a record; the next call takes the parts of its body away. The first call makes the
// writer emit the schema too, which the record's own frame then replaces.
func (c *payloadWriter) frame(rec arrow.Record) (*Frame, error) {
	if err := c.w.Write(rec); err != nil {
		return nil, err
	}
	f := c.last
	c.last = nil
	return f, nil
}

func (c *payloadWriter) Start() error { return nil }

func (c *payloadWriter) Close() error { return nil }

func (c *payloadWriter) WritePayload(p ipc.Payload) error {
	f, err := newFrame(&p, c.parts[:0])
	if err != nil {
		return err
	}
	c.last, c.parts = f, f.body
	return nil
}
