package osmpbf

import (
	"context"
	"errors"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	layout readers.Layout
	memory int64 // bytes of nodes, and of ways, in memory; 0: memoryBytes
}

func (c parser) file() *file { return c.layout.Dialect.(*file) }

// wgs84 is the reference system of OpenStreetMap.
var wgs84, _ = geoarrow.ParseCRS("EPSG:4326")

// Parse reads a layer of the file, or a span of its rows that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	number := 0
	if c.layout.Layer != "" {
		if number = slices.Index(layerNames, c.layout.Layer); number < 0 {
			return readers.Summary{}, &readers.NoLayerError{
				Name: src.Name, Layer: c.layout.Layer,
				Layers: slices.Clone(layerNames),
			}
		}
	}
	opts := c.layout.Options
	l := newLayer(number, opts.Get(optionColumns))
	if err := req.Limits.CheckColumns(src.Name, len(l.keys)); err != nil {
		return readers.Summary{}, err
	}
	r := &run{parser: c, ctx: ctx, src: src, req: req, limits: req.Limits.WithDefaults(), layer: l}
	r.nodes.spill = r.spill()
	defer func() {
		r.nodes.spill.close()
		if r.ways != nil {
			r.ways.spill.close()
		}
	}()
	r.out = newOutput(ctx, c, src, req, emit)
	defer r.out.batcher.Close()
	newSink := func() *sink {
		return newSink(l, tagFormat(opts.Get(optionTags)), c.layout.Columns, opts.NullErrors())
	}
	r.out.sinks.New = newSink
	err := r.read()
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil {
		err = r.out.batcher.Finish()
	}
	if err == nil {
		err = r.out.chunks.Finish(req.Span, func() (*geoarrow.Columns, error) { return newSink().Columns(0) })
	}
	if err != nil {
		return readers.Summary{}, err
	}
	sum := r.out.sum
	sum.CRS, sum.Layers, sum.BytesRead = wgs84, slices.Clone(layerNames), src.BytesRead()
	return sum, nil
}

func (c parser) inMemory() int64 {
	if c.memory > 0 {
		return c.memory
	}
	return memoryBytes
}

// spill returns an empty spill.
func (r *run) spill() spill {
	return spill{name: r.src.Name, dir: r.limits.TempDir, most: r.inMemory()}
}

// read reads the layer.
func (r *run) read() error {
	if r.layer.number == points {
		return r.points()
	}
	if err := r.scan(); err != nil {
		return err
	}
	if r.layer.number == lines {
		return each(r, r.known(hasWays), (*worker).lineRows, r.take)
	}
	if err := r.store(); err != nil {
		return err
	}
	if err := r.relations(); err != nil || r.layer.number != multipolygons {
		return err
	}
	return each(r, r.known(hasWays), (*worker).areaRows, r.take)
}

// take adds rows to the output.
func (r *run) take(_ blob, p part) error { return r.out.add(p) }
