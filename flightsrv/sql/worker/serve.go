//go:build linux

package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// Socket is the descriptor of the socket that a worker is started with.
const Socket = 3

// Serve answers the server's requests on a socket until the server closes it. crs is
// [duck.Config.CRS]. It closes f.
func Serve(f *os.File, crs func(string) string) error {
	w := &worker{
		crs: crs, calls: map[uint64]context.CancelCauseFunc{}, files: map[int64]*mapping{},
		conns: map[uint64]*duck.Conn{}, statements: map[uint64]*duck.Statement{}, rows: map[uint64]*runningRows{},
	}
	var err error
	w.peer, err = newPeer(f, w.handle)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	w.peer.ordered = w.notice
	w.peer.run()
	w.removeSpilled()
	return nil
}

// removeSpilled empties the spill folder. The server that would remove it may have ended.
func (w *worker) removeSpilled() {
	if w.spill == "" {
		return
	}
	entries, _ := os.ReadDir(w.spill) // the process ends
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(w.spill, e.Name()))
	}
}

// worker is the state of a worker process.
type worker struct {
	peer *peer
	crs  func(string) string
	db   *duck.Database

	spill    string
	starting uint64 // the number of the request that starts DuckDB, which binds the names in macros

	mu         sync.Mutex
	last       uint64
	calls      map[uint64]context.CancelCauseFunc // by the number of the request
	conns      map[uint64]*duck.Conn
	statements map[uint64]*duck.Statement
	rows       map[uint64]*runningRows // by the number of the request for them
	files      map[int64]*mapping
}

// runningRows are rows, and the batches that DuckDB reads in place.
type runningRows struct {
	*duck.Rows
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	held  []arrow.Record
	bytes int64 // size of these batches, as they were sent
}

type callKey struct{}

// begin returns the context of a request. It has the request's number, for requests to the server.
func (w *worker) begin(id uint64) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), callKey{}, id))
	w.mu.Lock()
	w.calls[id] = cancel
	w.mu.Unlock()
	return ctx, cancel
}

func (w *worker) end(id uint64) {
	w.mu.Lock()
	cancel := w.calls[id]
	delete(w.calls, id)
	w.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

func (w *worker) handle(m *message) (any, *body, error) {
	head, b, err := w.do(m)
	if err != nil && w.broken() {
		err = brokenError{err}
	}
	return head, b, err
}

// broken reports whether DuckDB refuses everything after an internal error.
func (w *worker) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		return !c.Usable()
	}
	return false
}

func (w *worker) do(m *message) (any, *body, error) {
	switch m.op {
	case opStart:
		w.starting = m.id
		return answer(m, w.start)
	case opCancel:
		return answer(m, w.cancel)
	case opView:
		return answer(m, func(r viewRequest) (any, error) { return nil, w.db.View(r.Schema, r.Name, r.Key) })
	case opDropView:
		return answer(m, func(r viewRequest) (any, error) { return nil, w.db.DropView(r.Schema, r.Name) })
	case opConnect:
		return answer(m, w.connect)
	case opUse:
		return answer(m, w.use)
	case opParse:
		return answer(m, w.parse)
	case opPrepare:
		return answer(m, func(r connQuery) (any, error) { return w.prepare(m.id, r) })
	case opPlan:
		return answer(m, func(r connQuery) (any, error) { return w.plan(m.id, r) })
	case opQuery:
		return w.query(m)
	case opNext:
		return w.next(m)
	case opCloseRows:
		return answer(m, w.closeRows)
	case opCloseStatement:
		return answer(m, w.closeStatement)
	case opCloseConn:
		return answer(m, w.closeConn)
	}
	return nil, nil, fmt.Errorf("operation %d", m.op)
}

// answer decodes a request and answers it by f.
func answer[R any](m *message, f func(R) (any, error)) (any, *body, error) {
	var r R
	if err := m.read(&r); err != nil {
		return nil, nil, err
	}
	reply, err := f(r)
	return reply, nil, err
}

func (w *worker) start(r startRequest) (any, error) {
	db, err := duck.Open(duck.Config{
		MemoryBytes: r.MemoryBytes, Threads: r.Threads, SpillDir: r.SpillDir, SpillBytes: r.SpillBytes,
		Spatial: r.Spatial, Macros: r.Macros, CRS: w.crs,
	}, w.resolve)
	if err != nil {
		return nil, err
	}
	w.db, w.spill = db, r.SpillDir
	return startReply{Version: duck.LibraryVersion(), Unprotected: confine()}, nil
}

func (w *worker) cancel(r handle) (any, error) {
	w.mu.Lock()
	cancel := w.calls[r.ID]
	w.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
	return nil, nil
}

// register numbers a value.
func register[T any](w *worker, in map[uint64]T, v T) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	in[w.last] = v
	return w.last
}

// lookup returns the value of a number.
func lookup[T any](w *worker, in map[uint64]T, id uint64) (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := in[id]
	if !ok {
		return v, fmt.Errorf("no %T of number %d", v, id)
	}
	return v, nil
}

// unregister removes the value of a number, and returns it.
func unregister[T any](w *worker, in map[uint64]T, id uint64) (T, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := in[id]
	delete(in, id)
	return v, ok
}

func (w *worker) connect(struct{}) (any, error) {
	c, err := w.db.Connect()
	if err != nil {
		return nil, err
	}
	return handle{register(w, w.conns, c)}, nil
}

func (w *worker) use(r connText) (any, error) {
	c, err := lookup(w, w.conns, r.Conn)
	if err != nil {
		return nil, err
	}
	return nil, c.Use(r.Text)
}

func (w *worker) parse(r connText) (any, error) {
	c, err := lookup(w, w.conns, r.Conn)
	if err != nil {
		return nil, err
	}
	return c.Parse(r.Text)
}

func (w *worker) prepare(id uint64, r connQuery) (any, error) {
	c, err := lookup(w, w.conns, r.Conn)
	if err != nil {
		return nil, err
	}
	ctx, _ := w.begin(id)
	defer w.end(id)
	s, err := c.Prepare(ctx, r.Query)
	if err != nil {
		return nil, err
	}
	return prepareReply{register(w, w.statements, s), schemaBytes(s.Schema()), schemaBytes(s.Parameters())}, nil
}

func (w *worker) plan(id uint64, r connQuery) (any, error) {
	c, err := lookup(w, w.conns, r.Conn)
	if err != nil {
		return nil, err
	}
	ctx, _ := w.begin(id)
	defer w.end(id)
	written, optimized, err := c.Plan(ctx, r.Query)
	return planReply{written, optimized}, err
}

// query starts rows, and returns the first record of them.
func (w *worker) query(m *message) (any, *body, error) {
	running, err := w.run(m)
	if err != nil {
		return nil, nil, err
	}
	reply := queryReply{Schema: schemaBytes(running.Schema())}
	first, b, err := w.record(context.Background(), m.id, running)
	if err != nil {
		_, _ = w.closeRows(handle{m.id}) // it returns no error
		return nil, nil, err
	}
	reply.First = first
	return reply, b, nil
}

func (w *worker) run(m *message) (*runningRows, error) {
	var r queryRequest
	if err := m.read(&r); err != nil {
		return nil, err
	}
	s, err := lookup(w, w.statements, r.Statement)
	if err != nil {
		return nil, err
	}
	var args arrow.Record
	if r.Args != nil {
		schema, err := readSchema(r.Schema)
		if err != nil {
			return nil, err
		}
		if args, err = (bufferSource{body: m.body, mem: m.mem}).decode(schema, *r.Args); err != nil {
			return nil, err
		}
		defer args.Release()
	}
	ctx, cancel := w.begin(m.id)
	running := &runningRows{cancel: cancel}
	w.mu.Lock()
	w.rows[m.id] = running
	w.mu.Unlock()
	running.Rows, err = s.Query(ctx, args, r.Row)
	if err != nil {
		w.mu.Lock()
		delete(w.rows, m.id)
		w.mu.Unlock()
		running.drop()
		w.end(m.id)
		return nil, err
	}
	return running, nil
}

// drop releases the batches that DuckDB has read.
func (r *runningRows) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.held {
		rec.Release()
	}
	r.held = nil
}

func (w *worker) next(m *message) (any, *body, error) {
	var r handle
	if err := m.read(&r); err != nil {
		return nil, nil, err
	}
	rows, err := lookup(w, w.rows, r.ID)
	if err != nil {
		return nil, nil, err
	}
	ctx, _ := w.begin(m.id)
	defer w.end(m.id)
	reply, b, err := w.record(ctx, r.ID, rows)
	if err != nil {
		return nil, nil, err
	}
	return reply, b, nil
}

// record returns the next record of rows.
func (w *worker) record(ctx context.Context, id uint64, rows *runningRows) (reply nextReply, b *body, err error) {
	rec, err := rows.Next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return reply, nil, err
	}
	if err == nil {
		b = &body{done: rec.Release}
		l, err := encode(rec, b, nil)
		if err != nil {
			rec.Release()
			return reply, nil, err
		}
		reply.Layout = &l
	}
	if rows.Ended() {
		reply.Ended = true
		_, _ = w.closeRows(handle{id}) // it returns no error
	}
	return reply, b, nil
}

func (w *worker) closeRows(r handle) (any, error) {
	rows, ok := unregister(w, w.rows, r.ID)
	if !ok {
		return nil, nil
	}
	rows.Close()
	rows.drop()
	w.end(r.ID)
	return nil, nil
}

func (w *worker) closeStatement(r handle) (any, error) {
	if s, ok := unregister(w, w.statements, r.ID); ok {
		s.Close()
	}
	return nil, nil
}

func (w *worker) closeConn(r handle) (any, error) {
	if c, ok := unregister(w, w.conns, r.ID); ok {
		c.Close()
	}
	return nil, nil
}

// ask sends a request to the server. The caller closes the message.
func (w *worker) ask(op operation, head, reply any) (*message, error) {
	id := w.peer.number()
	c := w.peer.wait(id)
	if err := w.peer.send(op, id, head, nil); err != nil {
		return nil, err
	}
	m := <-c
	if m == nil {
		return nil, errEnded
	}
	var f failure
	if err := m.read(&f); err == nil && f.Detail != nil {
		m.close()
		return nil, errAsked
	}
	if err := m.read(reply); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// tell sends a notice. It ignores errors: the process ends with the socket.
func (w *worker) tell(op operation, head any) { _ = w.peer.send(op, 0, head, nil) }
