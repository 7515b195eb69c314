package filegdb

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	layout    readers.Layout
	readBytes int // read at a time; 0: windowBytes
}

// job is one Parse. Offsets of a Span are numbers of slots; the bytes of rows are those of a sibling.
type job struct {
	*table
	parser parser
	ctx    context.Context
	src    *source.File
	limits readers.Limits
	skip   bool // on_error: skip
	nulls  bool // on_error: null or repair
	crs    geoarrow.CRS
	step   int
	sinks  parallel.FreeList[*sink]
}

// Parse reads a layer, or again a span of its rows that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	j, err := c.job(ctx, src, req)
	if err != nil {
		return readers.Summary{}, err
	}
	if req.Span.Inside {
		return j.again(req.Span, emit)
	}
	return j.all(req.First, emit)
}

// job opens the table of the layer.
func (c parser) job(ctx context.Context, src *source.File, req readers.Request) (*job, error) {
	opts := c.layout.Options
	g := c.layout.Dialect.(*geodatabase)
	l, err := g.find(src, c.layout.Layer)
	if err != nil {
		return nil, err
	}
	if l.compressed != "" {
		return nil, errorAt(src, 0, -1, fmt.Errorf("the layer %q is compressed: its data is in %s, which is not read",
			l.name, l.compressed))
	}
	j := &job{
		parser: c, ctx: ctx, src: src, limits: req.Limits.WithDefaults(), skip: opts.SkipErrors(),
		nulls: opts.NullErrors(), step: cmp.Or(c.readBytes, windowBytes),
	}
	if j.table, err = openTable(src, l.number); err != nil {
		return nil, err
	}
	j.apply(l, g.domains)
	return j, j.limits.CheckColumns(src.Name, len(j.newColumns(readers.Projection{})))
}

// apply sets what the definition says of the fields, and the reference system: that of the feature
// dataset, or that of the definition, or that of the table.
func (j *job) apply(l *layer, domains map[string][]byte) {
	var own, around definition
	if l.definition != nil {
		_ = unmarshal(l.definition, &own) // what can't be read is not known
	}
	if l.dataset != nil {
		_ = unmarshal(l.dataset, &around)
	}
	if j.geometry >= 0 {
		j.crs = around.System.crs()
		if j.crs == (geoarrow.CRS{}) {
			j.crs = own.System.crs()
		}
		if j.crs == (geoarrow.CRS{}) {
			j.crs = crsOf(j.fields[j.geometry].geometry.wkt)
		}
	}
	utc := isTrue(own.TimeInUTC)
	for i := range j.fields {
		f := &j.fields[i]
		f.utc = utc
		for _, d := range own.Fields {
			if !bytes.EqualFold([]byte(d.Name), []byte(f.name)) {
				continue
			}
			f.precise = isTrue(d.HighPrecision)
			if text, ok := domains[d.DomainName]; ok && f.kind.hasCodes() {
				f.codes = parseDomain(text)
			}
			break
		}
	}
}

// hasCodes reports whether values may be codes of a domain.
func (k kind) hasCodes() bool {
	return k <= kindString || k == kindInt64
}

// parseDomain returns a coded value domain, or nil.
func parseDomain(text []byte) *domain {
	d := &domain{texts: map[string]string{}}
	if err := unmarshal(text, d); err != nil {
		return nil
	}
	for _, v := range d.Values {
		d.texts[v.Code] = v.Name
	}
	return d
}

// again reads the rows of one chunk.
func (j *job) again(span readers.Span, emit func(readers.Chunk) error) (readers.Summary, error) {
	part, err := j.reader().Read(span.From, span.To, span.Row)
	if err != nil {
		return readers.Summary{}, err
	}
	part.Summary.CRS = j.crs
	part.Summary.Deviations.Shift(span.Row)
	return part.Summary, emit(readers.Chunk{Columns: part.Columns, Span: span})
}

// all reads the layer.
func (j *job) all(first *readers.First, emit func(readers.Chunk) error) (readers.Summary, error) {
	sum := readers.Summary{CRS: j.crs, Layers: j.parser.layout.Dialect.(*geodatabase).names()}
	out := parallel.NewOutput(emit)
	run := parallel.Start(j.ctx, parallel.Config{
		Parser: j.parser, Source: j.src,
		Request: readers.Request{Span: readers.Span{To: j.slots}, Limits: j.limits, First: first},
		Summary: &sum, Emit: out.Emit,
	})
	defer run.Close()
	if j.slots > 0 {
		_, _, err := run.Read(readers.Parts{
			To: j.slots, Size: j.partSlots(), Workers: j.limits.Workers,
			Reader: func() readers.PartReader { return j.pooledReader() },
		}, nil)
		if err != nil {
			return sum, err
		}
	}
	if err := run.Finish(); err != nil {
		return sum, err
	}
	return sum, out.Finish(readers.Span{}, j.empty)
}

// maxPartSlots bounds the slots of a part: many of them may be empty.
const maxPartSlots = 1 << 18

// partSlots returns how many slots have the bytes of a part, on average.
func (j *job) partSlots() int64 {
	size := float64(j.limits.PartBytes) * float64(j.slots) / float64(j.file.Size)
	return max(1, min(int64(size), maxPartSlots))
}

// empty returns the columns of a layer without rows.
func (j *job) empty() (*geoarrow.Columns, error) {
	s := j.newSink(false)
	return s.finish()
}
