package telemetry

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/vibeflight/vibeflight/catalog"
)

// Metrics are the instruments of a server besides those of gRPC. No attribute has text of a client.
// The methods do nothing on nil.
type Metrics struct {
	calls, authentications, refusals, parses, parsedBytes, forwarded counters

	sentRows, sentBytes, batchesRead, batchesPruned atomic.Int64

	parseSeconds, queueSeconds, firstBatchSeconds metric.Float64Histogram

	meter       metric.Meter
	instruments []instrument
	sources     atomic.Pointer[Sources]
	health      *Health
}

// labels are the values of up to three attributes.
type labels [3]string

// counters are atomic counters by attributes. Values of a counter are few and known.
type counters struct{ of sync.Map } // labels to *counter

type counter struct {
	n          atomic.Int64
	attributes metric.MeasurementOption
}

// add adds n to the counter of the labels. keys are the names of their attributes.
func (c *counters) add(keys labels, of labels, n int64) {
	at, ok := c.of.Load(of)
	if !ok {
		var set []attribute.KeyValue
		for i, k := range keys {
			if k != "" {
				set = append(set, attribute.String(k, of[i]))
			}
		}
		at, _ = c.of.LoadOrStore(of, &counter{attributes: metric.WithAttributeSet(attribute.NewSet(set...))})
	}
	at.(*counter).n.Add(n)
}

func (c *counters) each(put func(n int64, o ...metric.ObserveOption)) {
	c.of.Range(func(_, value any) bool {
		at := value.(*counter)
		put(at.n.Load(), at.attributes)
		return true
	})
}

// newMetrics creates the instruments.
func newMetrics(meter metric.Meter, health *Health) (*Metrics, error) {
	m := &Metrics{meter: meter, health: health, instruments: instruments()}
	for _, h := range []struct {
		to        *metric.Float64Histogram
		name, doc string
		bounds    []float64
	}{
		{&m.parseSeconds, histograms[0].name, histograms[0].doc, parseBounds},
		{&m.queueSeconds, histograms[1].name, histograms[1].doc, waitBounds},
		{&m.firstBatchSeconds, histograms[2].name, histograms[2].doc, callBounds},
	} {
		var err error
		*h.to, err = meter.Float64Histogram(h.name, metric.WithUnit("s"), metric.WithDescription(h.doc),
			metric.WithExplicitBucketBoundaries(h.bounds...))
		if err != nil {
			return nil, err
		}
	}
	if err := m.register(); err != nil {
		return nil, err
	}
	return m, nil
}

// Call counts a call that has ended.
func (m *Metrics) Call(method, code string, rows, bytes int64) {
	if m == nil {
		return
	}
	m.calls.add(labels{"method", "code"}, labels{method, code}, 1)
	m.sentRows.Add(rows)
	m.sentBytes.Add(bytes)
}

// Forwarded counts a call that is sent to another replica of the fleet, or received from one, by
// direction.
func (m *Metrics) Forwarded(direction string) {
	if m == nil {
		return
	}
	m.forwarded.add(labels{"direction"}, labels{direction}, 1)
}

// Kinds of sources of rows.
var (
	ofTable = metric.WithAttributeSet(attribute.NewSet(attribute.String("source", "table")))
	ofSQL   = metric.WithAttributeSet(attribute.NewSet(attribute.String("source", "sql")))
)

// FirstBatch records the time from the beginning of a call to its first batch.
func (m *Metrics) FirstBatch(ctx context.Context, sql bool, took time.Duration) {
	switch {
	case m == nil:
	case sql:
		m.firstBatchSeconds.Record(ctx, took.Seconds(), ofSQL)
	default:
		m.firstBatchSeconds.Record(ctx, took.Seconds(), ofTable)
	}
}

// Batches counts the batches of a table that a call reads, and those that cannot have rows of its
// selection.
func (m *Metrics) Batches(read, pruned int) {
	if m == nil {
		return
	}
	m.batchesRead.Add(int64(read))
	m.batchesPruned.Add(int64(pruned))
}

// Authentication counts a login or a call with a credential. method is "" if it is refused.
func (m *Metrics) Authentication(method string) {
	if m == nil {
		return
	}
	outcome := "ok"
	switch method {
	case "":
		method, outcome = "unknown", "refused"
	case "password", "token", "session", "oidc", "mtls":
	default:
		method = "other"
	}
	m.authentications.add(labels{"method", "outcome"}, labels{method, outcome}, 1)
}

// Refused counts a connection or call that is refused for a limit, which is named by its flag
// without the leading dashes.
func (m *Metrics) Refused(limit string) {
	if m == nil {
		return
	}
	m.refusals.add(labels{"limit"}, labels{limit}, 1)
}

// Parsed counts a parse that has ended.
func (m *Metrics) Parsed(p catalog.ParseReport) {
	if m == nil {
		return
	}
	engine := p.Engine
	if engine == "" {
		engine = "none"
	}
	outcome := "ok"
	switch {
	case errors.Is(p.Err, context.Canceled):
		outcome = "cancelled"
	case p.Err != nil:
		outcome = "error"
	}
	m.parses.add(labels{"format", "engine", "outcome"}, labels{p.Format, engine, outcome}, 1)
	m.parsedBytes.add(labels{"format", "engine"}, labels{p.Format, engine}, p.Bytes)
	ctx := context.Background()
	m.parseSeconds.Record(ctx, p.Took.Seconds(), metric.WithAttributes(attribute.String("engine", engine)))
	m.queueSeconds.Record(ctx, p.Queued.Seconds(), ofParses)
}

// Queues that parses and calls wait in. Attributes are computed once: that takes longer than the
// rest of a measurement.
var (
	ofParses = metric.WithAttributeSet(attribute.NewSet(attribute.String("queue", "parse")))
	ofCalls  = metric.WithAttributeSet(attribute.NewSet(attribute.String("queue", "calls")))
)

// CallQueued records the time that a call waited for its turn.
func (m *Metrics) CallQueued(ctx context.Context, waited time.Duration) {
	if m == nil {
		return
	}
	m.queueSeconds.Record(ctx, waited.Seconds(), ofCalls)
}
