package readers

import (
	"context"
	"time"
)

// First has the rows at the beginning of a file come before all others, for somebody who waits for
// them: those of the first batch, of which it is known where they end. Nothing behind them is begun
// before Rest is closed, so that processors, memory and cards are there for what is waited for, and
// for sending it; but they wait for no longer than firstLease behind the first batch.
type First struct {
	End  int64 // offset behind the rows
	Rest <-chan struct{}
}

// firstLease is longer than it takes to send a batch of 10 MB, and to join it, on most hosts.
const firstLease = 20 * time.Millisecond

type firstKey struct{}

// With has a parse under ctx read f first. It changes when rows come, and nothing else; a parser
// that reads a file in one go may take no notice of it.
func (f *First) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, firstKey{}, f)
}

// firstOf is what is read first under ctx, or nil.
func firstOf(ctx context.Context) *First {
	f, _ := ctx.Value(firstKey{}).(*First)
	return f
}
