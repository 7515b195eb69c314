package geojson

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/source"
)

// workers parse one file.
type workers struct {
	*jsonrows.Workers
	parser parser
	seen   memberNames // properties of the rows so far, for the device
}

// newWorkers returns workers to which the head scanner hands over after the first rows.
func newWorkers(ctx context.Context, c parser, src *source.File, req readers.Request, head *scanner) *workers {
	w := &workers{parser: c}
	w.Workers = jsonrows.NewWorkers(ctx, src, &head.Scanner, jsonrows.WorkersConfig{
		Parser: c, ReadBytes: c.readBytes, Engine: c.device,
		New: func() *jsonrows.Scanner {
			s := c.scanner(req)
			s.onlyCRS = true
			return &s.Scanner
		},
		Chunks: func() device.Chunks { return w.deviceChunks() }, Commit: w.commit,
	})
	return w
}

// commit notes the properties of a part, for the device.
func (w *workers) commit(p *readers.Part) error {
	if w.Device != nil {
		w.seen.learn(p.Columns)
	}
	return nil
}
