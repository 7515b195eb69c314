package readers

import (
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// textParser reads some columns as text, whatever their values.
type textParser struct {
	Parser
	columns []geoarrow.ColumnID
}

// AsText returns a parser of the format that reads some columns as text.
func (f Format) AsText(p Parser, columns []geoarrow.ColumnID) Parser {
	if len(columns) == 0 {
		return p
	}
	return textParser{p, columns}
}

// Parse implements Parser.
func (p textParser) Parse(ctx context.Context, src *source.File, req Request, emit func(Chunk) error) (
	Summary, error,
) {
	for _, id := range p.columns {
		if !slices.Contains(req.Span.Text, id) {
			req.Span.Text = append(slices.Clip(req.Span.Text), id)
		}
	}
	return p.Parser.Parse(ctx, src, req, emit)
}

// forceText makes columns text in the table, also if a worker guessed a part without knowing it.
func (j *joiner) forceText(columns []geoarrow.ColumnID) {
	j.facts, j.text = map[geoarrow.ColumnID]geoarrow.Facts{}, map[geoarrow.ColumnID]bool{}
	for _, id := range columns {
		j.text[id] = true
	}
}
