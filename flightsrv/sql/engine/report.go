package engine

import (
	"context"
	"sync/atomic"
)

// Report is what became of the queries that run with a context of WithReport.
type Report struct {
	Query, Schema string // the text of the last query, and its default schema

	read, leftOut atomic.Int64
}

// Batches returns how many batches of tables the queries read, and how many they left out because
// no row of them could match.
func (r *Report) Batches() (read, leftOut int64) { return r.read.Load(), r.leftOut.Load() }

type reportKey struct{}

// WithReport returns a context whose queries write to r.
func WithReport(ctx context.Context, r *Report) context.Context {
	return context.WithValue(ctx, reportKey{}, r)
}

// reportOf returns the report of a context, or nil.
func reportOf(ctx context.Context) *Report {
	r, _ := ctx.Value(reportKey{}).(*Report)
	return r
}
