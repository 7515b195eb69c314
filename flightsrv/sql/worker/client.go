//go:build linux

package worker

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// View makes a name mean a key, see [duck.Database.View].
func (w *process) View(schema, name, key string) error {
	return w.ask(context.Background(), opView, viewRequest{schema, name, key}, nil)
}

// DropView removes a view.
func (w *process) DropView(schema, name string) error {
	return w.ask(context.Background(), opDropView, viewRequest{Schema: schema, Name: name}, nil)
}

// Connect opens a connection.
func (w *process) Connect() (Conn, error) {
	var reply handle
	if err := w.ask(context.Background(), opConnect, struct{}{}, &reply); err != nil {
		return nil, err
	}
	return &conn{w, reply.ID}, nil
}

// Alive reports whether the process runs.
func (w *process) Alive() bool {
	select {
	case <-w.ended:
		return false
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.killReason == nil
}

type conn struct {
	w  *process
	id uint64
}

func (c *conn) Use(schema string) error {
	return c.w.ask(context.Background(), opUse, connText{c.id, schema}, nil)
}

func (c *conn) Parse(text string) (*duck.Query, error) {
	q := new(duck.Query)
	if err := c.w.ask(context.Background(), opParse, connText{c.id, text}, q); err != nil {
		return nil, err
	}
	return q, nil
}

func (c *conn) Prepare(ctx context.Context, query *duck.Query) (Statement, error) {
	var reply prepareReply
	if err := c.w.ask(ctx, opPrepare, connQuery{c.id, query}, &reply); err != nil {
		return nil, err
	}
	s := &statement{w: c.w, id: reply.Statement}
	var err error
	if s.schema, err = readSchema(reply.Schema); err == nil {
		s.parameters, err = readSchema(reply.Parameters)
	}
	return s, err
}

func (c *conn) Plan(ctx context.Context, query *duck.Query) (written, optimized []byte, err error) {
	var reply planReply
	err = c.w.ask(ctx, opPlan, connQuery{c.id, query}, &reply)
	return reply.Written, reply.Optimized, err
}

// Usable reports whether the worker runs.
func (c *conn) Usable() bool { return c.w.Alive() }

func (c *conn) Close() { c.w.tell(opCloseConn, c.id) }

// tell sends a notice that something is closed. A worker that has ended has closed everything.
func (w *process) tell(op operation, id uint64) { _ = w.ask(context.Background(), op, handle{id}, nil) }

type statement struct {
	w                  *process
	id                 uint64
	schema, parameters *arrow.Schema
}

func (s *statement) Schema() *arrow.Schema     { return s.schema }
func (s *statement) Parameters() *arrow.Schema { return s.parameters }
func (s *statement) Close()                    { s.w.tell(opCloseStatement, s.id) }

func (s *statement) Query(ctx context.Context, args arrow.Record, row int) (Rows, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	request, b := queryRequest{Statement: s.id, Row: row}, &body{}
	if args != nil {
		l, err := encode(args, b, nil)
		if err != nil {
			return nil, err
		}
		request.Schema, request.Args = schemaBytes(args.Schema()), &l
	}
	id, c := s.w.begin(ctx)
	r := &rows{w: s.w, id: id, call: c}
	m, err := s.w.request(c, id, opQuery, request, b)
	if err == nil {
		var reply queryReply
		err = m.read(&reply)
		if err == nil {
			r.schema, err = readSchema(reply.Schema)
		}
		if err == nil {
			err = r.take(m, reply.First)
		}
		m.close()
	}
	if err != nil {
		s.w.end(id)
		return nil, err
	}
	s.w.addResults(1)
	// A statement computes ahead between two calls of Next.
	r.stop = context.AfterFunc(ctx, func() { _ = s.w.peer.send(opCancel, 0, handle{id}, nil) })
	return r, nil
}

// rows is the result of a query in a worker.
type rows struct {
	w      *process
	id     uint64
	call   *call
	schema *arrow.Schema
	next   arrow.Record // the one to return next
	mem    *mapping     // of the last record
	stop   func() bool
	ended  bool // there are no more records, and the worker has closed the rows
	failed bool
	closed bool
}

func (r *rows) Schema() *arrow.Schema { return r.schema }

func (r *rows) Next(ctx context.Context) (arrow.Record, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if r.next == nil {
		if r.ended || r.failed {
			return nil, io.EOF
		}
		if err := r.fetch(ctx); err != nil {
			r.failed = true
			return nil, err
		}
	}
	rec := r.next
	r.next = nil
	if rec == nil {
		return nil, io.EOF
	}
	return rec, nil
}

// fetch requests the next record.
func (r *rows) fetch(ctx context.Context) error {
	id, c := r.w.begin(ctx)
	defer r.w.end(id)
	m, err := r.w.request(c, id, opNext, handle{r.id}, nil)
	if err != nil {
		if ctx.Err() == nil { // scans belong to the call of Query, whose context may have ended
			err = r.w.errorOf(r.call, err)
		}
		return err
	}
	defer m.close()
	var reply nextReply
	if err := m.read(&reply); err != nil {
		return err
	}
	return r.take(m, reply)
}

// take reads the record of a reply.
func (r *rows) take(m *message, reply nextReply) (err error) {
	r.ended = reply.Ended
	if reply.Layout == nil {
		return nil
	}
	r.mem.release()
	r.mem = m.mem.retain()
	r.next, err = bufferSource{body: m.body, mem: m.mem}.decode(r.schema, *reply.Layout)
	return err
}

// Retain keeps the last record's memory.
func (r *rows) Retain() func() {
	if r.mem == nil {
		return nil
	}
	return r.mem.retain().release
}

func (r *rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.stop()
	if !r.ended {
		r.w.tell(opCloseRows, r.id)
	}
	r.ended = true
	if r.next != nil {
		r.next.Release()
		r.next = nil
	}
	r.w.addResults(-1)
	r.w.end(r.id)
	r.mem.release()
	r.mem = nil
}
