package sql

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// Limits of what clients may leave on the server, all of them together. At a limit, the oldest
// resource of the client that holds the most is evicted for the next one.
const (
	// of the text of one query: DuckDB plans some of them for seconds, and can't be interrupted
	// meanwhile
	maxQueryBytes     = 64 << 10
	maxPrepared       = 1024     // open prepared statements
	maxResults        = 1024     // results that wait for a fetch or are being fetched
	maxPolls          = 256      // queries that are being prepared for polls
	maxSessions       = 4096     // sessions with options
	maxBoundBytes     = 64 << 20 // of all bound parameters
	maxParameterBytes = 4 << 20  // of one binding
	maxParameterRows  = 65536    // of one binding; the query runs once for each
)

// How long a handle stays valid after its last use.
const (
	resultIdle   = 10 * time.Minute
	preparedIdle = time.Hour
	sessionIdle  = time.Hour
	sweepEvery   = 15 * time.Second
)

// Server answers Flight SQL calls. It is safe for use by several goroutines.
type Server struct {
	engine   Engine
	writable bool          // tables can be stored; the caller of Put does so
	tag      string        // that handles begin with; "" without a fleet
	pollWait time.Duration // the constant, unless a test sets it

	ctx  context.Context // of work between calls
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu         sync.Mutex
	prepared   map[string]*preparedStatement
	results    map[string]*result
	polls      map[string]*poll
	sessions   map[string]*session
	boundBytes int64 // of all bound parameters
	evicted    evictedHandles
}

// New returns a server on an engine, which the caller keeps. writable means that tables can be
// stored, which sqlInfo reports. The caller closes the server, then the engine.
func New(e Engine, writable bool) *Server {
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		engine: e, writable: writable, pollWait: pollWait, ctx: ctx, stop: stop,
		prepared: map[string]*preparedStatement{}, results: map[string]*result{}, polls: map[string]*poll{},
		sessions: map[string]*session{},
	}
	s.wg.Go(s.sweep)
	return s
}

// Close removes all handles and ends the queries in progress. It waits for the server's own work,
// and not for calls that fetch rows.
func (s *Server) Close() {
	s.mu.Lock()
	s.stop() // nothing is added after this
	s.mu.Unlock()
	s.wg.Wait()
	s.forget(func(time.Time, time.Duration) bool { return true })
}

// ErrClosed is the error of a closed server.
var ErrClosed = errors.New("the SQL server is closed")

// sweep removes unused handles periodically.
func (s *Server) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			s.expire(now)
		}
	}
}

// expire removes the handles that are not used for too long before now.
func (s *Server) expire(now time.Time) {
	s.forget(func(used time.Time, idle time.Duration) bool { return now.Sub(used) > idle })
}

// forget removes what is old, by its last use and by how long it may be idle.
func (s *Server) forget(old func(used time.Time, idle time.Duration) bool) {
	s.mu.Lock()
	var gone []query
	for _, p := range s.prepared {
		if old(p.used, preparedIdle) {
			gone = append(gone, s.dropPrepared(p))
		}
	}
	for _, r := range s.results {
		if old(r.used, resultIdle) && (r.run == nil || s.ctx.Err() != nil) {
			gone = append(gone, s.dropResult(r, errCancelled))
		}
	}
	for id, p := range s.polls {
		if old(p.used, pollLease) {
			p.cancel()
			delete(s.polls, id)
		}
	}
	for token, c := range s.sessions {
		if old(c.used, sessionIdle) {
			delete(s.sessions, token)
		}
	}
	s.mu.Unlock()
	for _, q := range gone {
		s.release(q)
	}
}

// Stats are the current numbers of a server.
type Stats struct {
	engine.Stats
	Prepared   int   `json:"prepared"`    // statements that clients have open
	Results    int   `json:"results"`     // that wait to be fetched, or are being fetched
	Polls      int   `json:"polls"`       // queries that are being prepared for polls
	Sessions   int   `json:"sessions"`    // with options of their own
	BoundBytes int64 `json:"bound_bytes"` // of parameters
}

// Stats returns the current numbers.
func (s *Server) Stats() Stats {
	of := s.engine.Stats()
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Stats: of, Prepared: len(s.prepared), Results: len(s.results), Polls: len(s.polls),
		Sessions: len(s.sessions), BoundBytes: s.boundBytes,
	}
}

// Info prepares the query of a command and returns the FlightInfo to fetch it.
func (s *Server) Info(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	m, err := commandOf(d.GetCmd())
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *pb.CommandStatementQuery:
		q, err := s.query(ctx, m.GetQuery(), m.GetTransactionId())
		if err != nil {
			return nil, err
		}
		return s.resultInfo(ctx, q, d)
	case *pb.CommandPreparedStatementQuery:
		q, err := s.boundQuery(ctx, m.GetPreparedStatementHandle())
		if err != nil {
			return nil, err
		}
		return s.resultInfo(ctx, q, d)
	}
	l, err := listingOf(m)
	if err != nil {
		return nil, err
	}
	return infoOf(l.schema, d, d.GetCmd()), nil
}

// infoOf describes rows of which only the schema is known. The endpoint has no location: handles
// are valid on this server, so clients use their connection.
func infoOf(schema *arrow.Schema, d *flight.FlightDescriptor, ticket []byte) *flight.FlightInfo {
	return &flight.FlightInfo{
		Schema: encodeSchema(schema), FlightDescriptor: d,
		Endpoint:     []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}},
		TotalRecords: -1, TotalBytes: -1, Ordered: true,
	}
}

// encodeSchema encodes a schema in the form of FlightInfo: the first message of the stream, without
// the end-of-stream marker.
func encodeSchema(schema *arrow.Schema) []byte {
	return bytes.TrimSuffix(flight.SerializeSchema(schema, memory.DefaultAllocator),
		[]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
}

// Schema returns the schema of the result of a command.
func (s *Server) Schema(ctx context.Context, d *flight.FlightDescriptor) (*arrow.Schema, error) {
	m, err := commandOf(d.GetCmd())
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *pb.CommandStatementQuery:
		stmt, err := s.prepare(ctx, m.GetQuery(), m.GetTransactionId())
		if err != nil {
			return nil, err
		}
		defer stmt.Close()
		return stmt.Schema(), nil
	case *pb.CommandPreparedStatementQuery:
		s.mu.Lock()
		p, err := s.findPrepared(ctx, m.GetPreparedStatementHandle())
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if err := p.plan.stmt.Authorize(ctx); err != nil {
			return nil, err
		}
		return p.plan.stmt.Schema(), nil
	}
	l, err := listingOf(m)
	if err != nil {
		return nil, err
	}
	return l.schema, nil
}

// Result is the rows of a ticket, for one goroutine. The caller closes it.
type Result interface {
	Schema() *arrow.Schema
	Next() (arrow.Record, error) // the caller releases the record; io.EOF after the last one
	// keeps the memory of the last record readable until release is called once; nil if the garbage
	// collector keeps it
	Retain() (release func())
	Close()
}

// Get returns the rows of a ticket, until ctx ends.
func (s *Server) Get(ctx context.Context, ticket []byte) (Result, error) {
	m, err := commandOf(ticket)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *pb.TicketStatementQuery:
		return s.fetch(ctx, m.GetStatementHandle())
	case *pb.CommandPreparedStatementQuery:
		q, err := s.boundQuery(ctx, m.GetPreparedStatementHandle())
		if err != nil {
			return nil, err
		}
		r, err := s.addResult(ctx, q)
		if err != nil {
			return nil, err
		}
		return s.fetch(ctx, []byte(r.id))
	case *pb.CommandStatementQuery:
		return nil, malformed("ticket: CommandStatementQuery goes to GetFlightInfo, which gives the ticket")
	}
	l, err := listingOf(m)
	if err != nil {
		return nil, err
	}
	rec, err := l.rows(ctx, s)
	if err != nil {
		return nil, err
	}
	return &singleRecord{rec: rec, schema: l.schema}, nil
}
