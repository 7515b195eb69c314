package flightsrv

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
)

const (
	slowQueue   = 64               // slow calls that wait to be logged
	planTimeout = 10 * time.Second // of one EXPLAIN
	maxPlanText = 16 << 10         // bytes
)

// slowLog logs slow calls. The plan of a query is made after the call, by EXPLAIN, one at a time.
type slowLog struct {
	engine  sql.Engine // nil: no SQL
	log     zerolog.Logger
	queue   chan slowCall
	dropped atomic.Int64
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// slowCall is a call that is logged, and what is needed to explain its query.
type slowCall struct {
	audit.Record
	ctx           context.Context // with the caller's rights; it does not end with the call
	query, schema string          // the text that the call ran, and its default schema; empty: none
	read, leftOut int64           // batches
}

func newSlowLog(e sql.Engine, log zerolog.Logger) *slowLog {
	ctx, stop := context.WithCancel(context.Background())
	s := &slowLog{engine: e, log: log, queue: make(chan slowCall, slowQueue), stop: stop}
	s.done.Go(func() { s.run(ctx) })
	return s
}

// add queues a call; it does not block.
func (s *slowLog) add(ctx context.Context, c *call, r audit.Record) {
	one := slowCall{Record: r, ctx: context.WithoutCancel(ctx)}
	if c.query != nil {
		one.query, one.schema = c.query.Query, c.query.Schema
		one.read, one.leftOut = c.query.Batches()
	}
	select {
	case s.queue <- one:
	default:
		s.dropped.Add(1)
	}
}

// close ends the log. The calls in the queue are logged without their plans.
func (s *slowLog) close() {
	if s == nil {
		return
	}
	s.stop()
	s.done.Wait()
}

func (s *slowLog) run(ctx context.Context) {
	for {
		select {
		case c := <-s.queue:
			s.write(ctx, c)
		case <-ctx.Done():
			for {
				select {
				case c := <-s.queue:
					s.write(ctx, c)
					continue
				default:
				}
				return
			}
		}
	}
}

func (s *slowLog) write(ctx context.Context, c slowCall) {
	c.Clip()
	e := s.log.Warn().Interface("call", c.Record)
	if c.query != "" {
		e = e.Int64("batches_read", c.read).Int64("batches_pruned", c.leftOut)
		if plan, err := s.plan(ctx, c); err != nil {
			e = e.Str("plan_error", excerpt.Clip(err.Error(), maxMessageText))
		} else {
			e = e.Str("plan", excerpt.Clip(plan, maxPlanText))
		}
	}
	if n := s.dropped.Swap(0); n > 0 {
		e = e.Int64("suppressed", n)
	}
	e.Msg("slow call")
}

// plan returns DuckDB's plan of a query.
func (s *slowLog) plan(ctx context.Context, c slowCall) (string, error) {
	if s.engine == nil {
		return "", errors.New(noSQL)
	}
	of, cancel := context.WithTimeout(c.ctx, planTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	stmt, err := s.engine.Prepare(of, "EXPLAIN "+c.query, c.schema)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	rows, err := stmt.Query(of, nil, 0)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var plan strings.Builder
	for {
		rec, err := rows.Next(of)
		if errors.Is(err, io.EOF) {
			return plan.String(), nil
		}
		if err != nil {
			return "", err
		}
		appendText(&plan, rec)
		rec.Release()
	}
}

// appendText appends the last column of rec, which has the text of EXPLAIN.
func appendText(to *strings.Builder, rec arrow.Record) {
	if rec.NumCols() == 0 {
		return
	}
	texts, ok := rec.Column(int(rec.NumCols()) - 1).(*array.String)
	for i := 0; ok && i < texts.Len(); i++ {
		to.WriteString(texts.Value(i))
	}
}
