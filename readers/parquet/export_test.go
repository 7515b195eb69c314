package parquet

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// Streamed returns the engine that takes every row group for a large one.
func Streamed() readertest.Variant {
	return readertest.Variant{Name: "streamed", Parser: func(l readers.Layout, _ int) readers.Parser {
		f := l.Dialect.(*footer)
		p := project{f, f.plan.Needs(l.Columns), -1}
		return records.Parser{Format: formatName, Plan: f.plan, Columns: l.Columns, Loads: p.loads}
	}}
}
