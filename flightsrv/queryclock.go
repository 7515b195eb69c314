package flightsrv

import (
	"context"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
)

// queryClock bounds the time in which the server computes the rows of a query. The time in which the
// client does not read does not count. One goroutine uses it.
type queryClock struct {
	timer  *time.Timer // nil: no bound
	left   time.Duration
	began  time.Time
	cancel context.CancelCauseFunc
}

// newQueryClock returns a context that ends when the time of the context's user is over. The clock is
// paused.
func newQueryClock(ctx context.Context) (context.Context, *queryClock) {
	limit := admission.Of(ctx).QueryTime
	if limit == 0 {
		return ctx, &queryClock{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &queryClock{left: limit, cancel: cancel}
	c.timer = time.AfterFunc(limit, func() { cancel(&timeoutError{"query", "--query-timeout", limit}) })
	c.timer.Stop()
	return ctx, c
}

func (c *queryClock) Start() {
	if c.timer != nil {
		c.began = time.Now()
		c.timer.Reset(max(0, c.left))
	}
}

func (c *queryClock) Pause() {
	if c.timer != nil {
		c.timer.Stop()
		c.left -= time.Since(c.began)
	}
}

// stop ends the context.
func (c *queryClock) stop() {
	if c.timer != nil {
		c.timer.Stop()
		c.cancel(context.Canceled)
	}
}

// runsQuery reports whether the rows of a ticket of Flight SQL are computed by a query.
func runsQuery(ticketName string) bool {
	return ticketName == "TicketStatementQuery" || ticketName == "CommandPreparedStatementQuery"
}
