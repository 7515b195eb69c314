package worker

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// The tables of the server as DuckDB reads them in a worker.

func (w *worker) resolve(ctx context.Context, key string) (duck.Relation, error) {
	call, ok := ctx.Value(callKey{}).(uint64)
	if !ok {
		call = w.starting
	}
	var reply resolveReply
	m, err := w.ask(opResolve, resolveRequest{call, key}, &reply)
	if err != nil {
		return nil, err
	}
	defer m.close()
	schema, err := readSchema(reply.Schema)
	if err != nil {
		return nil, err
	}
	return &remoteRelation{w, reply.Relation, schema, reply.Rows}, nil
}

// remoteRelation is a table of the server's.
type remoteRelation struct {
	worker *worker
	id     uint64
	schema *arrow.Schema
	rows   int64
}

func (r *remoteRelation) Schema() *arrow.Schema { return r.schema }
func (r *remoteRelation) Rows() int64           { return r.rows }
func (r *remoteRelation) Release()              { r.worker.tell(opReleaseRelation, handle{r.id}) }

func (r *remoteRelation) Scan(ctx context.Context, columns []int) (duck.Batches, error) {
	call, _ := ctx.Value(callKey{}).(uint64)
	var reply scanReply
	m, err := r.worker.ask(opScan, scanRequest{call, r.id, columns}, &reply)
	if err != nil {
		return nil, err
	}
	m.close()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = r.schema.Field(c)
	}
	return &remoteBatches{r.worker, call, reply.Scan, reply.Batches, arrow.NewSchema(fields, nil)}, nil
}

// remoteBatches is a scan of a table of the server's.
type remoteBatches struct {
	worker *worker
	call   uint64
	id     uint64
	n      int
	schema *arrow.Schema
}

func (b *remoteBatches) Len() int { return b.n }
func (b *remoteBatches) Release() { b.worker.tell(opReleaseScan, handle{b.id}) }

func (b *remoteBatches) Batch(i int) (rec arrow.Record, lasting bool, err error) {
	var reply batchReply
	m, err := b.worker.ask(opBatch, batchRequest{b.call, b.id, i}, &reply)
	if err != nil {
		return nil, false, err
	}
	defer m.close()
	rec, err = source{body: m.body, mem: m.mem, files: b.worker.file}.decode(b.schema, reply.Layout)
	if err != nil || !reply.Lasting {
		return rec, false, err
	}
	return rec, b.worker.hold(b.call, rec, int64(len(m.body))), nil
}

// notice takes the notices about files, in the order of their sending.
func (w *worker) notice(m *message) bool {
	switch m.op {
	case opFile:
		var r fileNotice
		if m.read(&r) != nil || len(m.fds) != 1 {
			return true
		}
		mapped, err := mapFile(m.fds[0])
		if err != nil {
			return true // a batch that lies in it is an error
		}
		w.mu.Lock()
		w.files[r.Number] = mapped
		w.mu.Unlock()
	case opForget:
		var r forgetNotice
		if m.read(&r) == nil {
			w.forget(r.Numbers)
		}
	default:
		return false
	}
	return true
}

func (w *worker) file(number int64) *mapping {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[number]
}

// heldBytes is the most that rows hold of batches that were sent: what lies in mapped files costs nothing.
const heldBytes = 256 << 20

// hold keeps a batch, of which these bytes were sent, until the rows of a request are closed. It
// reports whether there are such rows, and room.
func (w *worker) hold(call uint64, rec arrow.Record, bytes int64) bool {
	rows, err := kept(w, w.rows, call)
	if err != nil {
		return false
	}
	rows.mu.Lock()
	defer rows.mu.Unlock()
	if rows.bytes+bytes > heldBytes {
		return false
	}
	rec.Retain()
	rows.bytes += bytes
	rows.held = append(rows.held, rec)
	return true
}

// forget gives up files. Batches that are in use keep their mappings.
func (w *worker) forget(numbers []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range numbers {
		w.files[n].release()
		delete(w.files, n)
	}
}
