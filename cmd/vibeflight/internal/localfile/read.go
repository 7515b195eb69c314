package localfile

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Reader is how a file is read.
type Reader struct {
	Formats readers.Registry
	Format  readers.Format
	Options readers.Options
	Layer   string // "": the first one
	Columns readers.Projection
	Limits  readers.Limits
	Unpack  source.UnpackOptions
	Engine  readers.Engine             // nil: the CPU engine
	Opened  func(content *source.File) // called with what is parsed; may be nil
}

// Read parses the file at path, from its opening to the complete table. The returned source is
// closed; it has the size.
func Read(ctx context.Context, path string, how Reader) (*source.File, *readers.Table, error) {
	src, err := openAs(ctx, path, how.Format)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	table, err := how.read(ctx, src)
	// Checked after an error too: halves of two versions make a malformed file.
	if changed := src.Unchanged(); changed != nil {
		return nil, nil, changed
	}
	return src, table, err
}

func (how Reader) read(ctx context.Context, src *source.File) (table *readers.Table, err error) {
	if !how.Format.Indexed {
		src.PrefetchAll()
	}
	err = how.Formats.ReadLayer(ctx, how.Format, src, how.Layer, how.Unpack, func(content *source.File) error {
		table, err = how.content(ctx, content)
		return err
	})
	if err != nil {
		return nil, err
	}
	return table, nil
}

// content reads the table of a plain file.
func (how Reader) content(ctx context.Context, content *source.File) (*readers.Table, error) {
	if how.Opened != nil {
		how.Opened(content)
	}
	layout, err := how.Format.Open(ctx, content, how.Options)
	if err != nil {
		return nil, err
	}
	layout.Layer, layout.Columns = readers.LayerIn(content, how.Layer), how.Columns
	parser := how.Format.CPU
	if how.Engine != nil {
		parser = how.Engine.Parser
	}
	return readers.Read(ctx, how.Format, parser(layout), content, how.Limits, nil)
}
