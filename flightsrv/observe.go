package flightsrv

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// phases are the parts of a call for metrics and logs. Times that were not reached are zero.
//
//	start    began        opened               first
//	  | queue  | open/parse |  first batch       |   …
//	  login,    table or     schema and batch
//	  limits    result       handed to gRPC
type phases struct {
	began, opened, first time.Time
	sending              time.Duration  // waits for gRPC, that is, for the network and the client
	columns              []string       // that the ticket selects; nil: all
	where                string         // of the ticket
	box                  *[4]float64    // of the ticket
	action               string         // type of a DoAction
	query                *engine.Report // of a DoGet of SQL, else nil
}

// selects records what a ticket selects.
func (c *call) selects(t ticket.Ticket) {
	c.name, c.columns, c.where, c.box = t.Name, t.Columns, t.Where, t.BBox
}

// isOpen records that the result is open.
func (c *call) isOpen() { c.opened = time.Now() }

// sentBatch records the first batch.
func (c *call) sentBatch() {
	if c.first.IsZero() {
		c.first = time.Now()
	}
}

// send sends a frame, and measures the wait.
func (c *call) send(stream grpc.ServerStream, f *frame.Frame) error {
	begin := time.Now()
	err := stream.SendMsg(f)
	c.sending += time.Since(begin)
	return err
}

// opened records that the table of a ticket is open, and how many batches the scan reads.
func (s *service) opened(c *call, o tableScan) {
	c.isOpen()
	if m := s.cfg.Telemetry.Metrics; m != nil {
		read := len(o.scan.Batches())
		m.Batches(read, max(0, len(o.Table.Starts)-1-read))
	}
}

// countAuthentication counts the check of a credential; p is nil if it was refused.
func (s *service) countAuthentication(p *auth.Principal) {
	method := ""
	if p != nil {
		method = cmp.Or(p.Method, "other")
	}
	s.cfg.Telemetry.Metrics.Authentication(method)
}

// observeSources lets the metrics read the numbers of the server.
func (s *service) observeSources() {
	from := telemetry.Sources{
		Catalog: s.cfg.Catalog.Stats,
		Clients: func() telemetry.Clients {
			n := s.load.now()
			return telemetry.Clients{
				Connections: n.Open, RefusedConnections: n.Refused, Calls: n.Calls, RefusedCalls: n.RefusedCalls,
			}
		},
	}
	if s.sql != nil {
		from.SQL = s.sql.Stats
	}
	if s.fleet != nil {
		from.Replicas = func() int { return len(s.fleet.Replicas()) }
	}
	if s.cfg.Audit != nil {
		from.Audit = s.cfg.Audit.Stats
	}
	s.cfg.Telemetry.Metrics.Observe(from)
}

// observe counts a call that has ended, and adds it to the audit log and the slow log.
func (s *service) observe(ctx context.Context, c *call, code string, err error) {
	m := s.cfg.Telemetry.Metrics
	if m != nil {
		m.Call(shortMethod(c.method), code, c.rows, c.bytes)
		if limit := new(admission.LimitError); errors.As(err, &limit) {
			m.Refused(limit.Flag)
		}
		if !c.first.IsZero() {
			m.FirstBatch(ctx, c.query != nil, c.first.Sub(c.start))
		}
	}
	slow := s.slow != nil && time.Since(c.start) >= s.cfg.Slow
	if s.cfg.Audit == nil && !slow {
		return
	}
	r := c.record(ctx, code, err)
	if s.cfg.Audit != nil {
		s.cfg.Audit.Add(r)
	}
	if slow {
		s.slow.add(ctx, c, r)
	}
}

// record returns the line of the audit log for a call that has ended.
func (c *call) record(ctx context.Context, code string, err error) audit.Record {
	now := time.Now()
	r := audit.Record{
		Time: now.UTC(), Method: shortMethod(c.method), Action: c.action, Entry: c.name, SQL: c.sql,
		Columns: c.columns, Where: c.where, Box: c.box,
		Rows: c.rows, Bytes: c.bytes, Code: code, Trace: traceOf(ctx),
		ForwardedTo: c.forwardedTo, ForwardedBy: c.forwardedBy,
		Queue: ms(c.start, c.began), Open: ms(c.began, c.opened), First: ms(c.opened, c.first),
		Send: float64(c.sending.Microseconds()) / 1e3, Total: ms(c.start, now),
	}
	if c.query != nil {
		r.SQL = cmp.Or(r.SQL, c.query.Query)
	}
	if err != nil {
		r.Error = excerpt.Clip(messageOf(c.name, err), maxMessageText)
	}
	if c.caller != nil {
		r.User, r.Groups, r.Login = c.caller.Name, c.caller.Groups, c.caller.Method
	}
	if c.active != nil {
		r.Address = c.active.address
	} else if p, ok := peer.FromContext(ctx); ok {
		r.Address = p.Addr.String()
	}
	if agent := metadata.ValueFromIncomingContext(ctx, "user-agent"); len(agent) > 0 {
		r.UserAgent = agent[0]
	}
	return r
}

// ms returns the milliseconds between two times, 0 if one was not reached.
func ms(from, to time.Time) float64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return float64(to.Sub(from).Microseconds()) / 1e3
}

// shortMethod returns the name of a method without the service of Flight.
func shortMethod(method string) string {
	if name, ok := strings.CutPrefix(method, flightPrefix); ok {
		return name
	}
	return strings.TrimPrefix(method, "/")
}

// traceOf returns the trace ID of a call: that of its span, or that which the client sent.
func traceOf(ctx context.Context) string {
	if of := trace.SpanContextFromContext(ctx); of.HasTraceID() {
		return of.TraceID().String()
	}
	sent := metadata.ValueFromIncomingContext(ctx, "traceparent")
	if len(sent) == 0 {
		return ""
	}
	parts := strings.Split(sent[0], "-") // version, trace ID, span ID, flags (W3C Trace Context)
	if len(parts) < 4 || len(parts[0]) != 2 {
		return ""
	}
	id, err := trace.TraceIDFromHex(parts[1])
	if err != nil {
		return ""
	}
	return id.String()
}
