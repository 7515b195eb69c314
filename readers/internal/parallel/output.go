package parallel

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Output passes chunks on, and sees to it that a file without rows gives one empty chunk.
type Output struct {
	emit    func(readers.Chunk) error
	started bool
}

// NewOutput makes an output that passes chunks to emit.
func NewOutput(emit func(readers.Chunk) error) *Output { return &Output{emit: emit} }

// Emit passes a chunk on.
func (o *Output) Emit(c readers.Chunk) error {
	o.started = true
	return o.emit(c)
}

// Finish emits the columns of a file without rows if no chunk came from a whole file. A span of
// rows always has some.
func (o *Output) Finish(span readers.Span, empty func() (*geoarrow.Columns, error)) error {
	if o.started || span.Inside {
		return nil
	}
	columns, err := empty()
	if err != nil {
		return err
	}
	return o.emit(readers.Chunk{Columns: columns})
}

// NoGeometries returns the columns of a file without rows in a format that has no column but the
// geometry.
func NoGeometries() (*geoarrow.Columns, error) {
	return &geoarrow.Columns{Geometry: geoarrow.NullGeometry(0, geoarrow.NoKind, geoarrow.XY)}, nil
}
