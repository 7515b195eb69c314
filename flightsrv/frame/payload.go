package frame

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// payloadWriter is an ipc.PayloadWriter that keeps the last payload as a frame.
type payloadWriter struct {
	writer *ipc.Writer
	last   *Frame
	parts  [][]byte // of the last body, reused
}

func newPayloadWriter(schema *arrow.Schema, opts ...ipc.Option) *payloadWriter {
	w := &payloadWriter{}
	w.writer = ipc.NewWriterWithPayloadWriter(w, append(opts, ipc.WithSchema(schema))...)
	return w
}

// frame encodes a record. The next call reuses the list of its parts. The first call makes the
// writer emit the schema too, which the frame of the record then replaces.
func (w *payloadWriter) frame(rec arrow.Record) (*Frame, error) {
	if err := w.writer.Write(rec); err != nil {
		return nil, err
	}
	f := w.last
	w.last = nil
	return f, nil
}

func (w *payloadWriter) Start() error { return nil }

func (w *payloadWriter) Close() error { return nil }

func (w *payloadWriter) WritePayload(p ipc.Payload) error {
	f, err := newFrame(&p, w.parts[:0])
	if err != nil {
		return err
	}
	w.last, w.parts = f, f.body
	return nil
}
