//go:build linux

package worker

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// The tables of the server, as DuckDB reads them in a worker.

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

// remoteRelation is a table of the server.
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
	defer m.close()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = r.schema.Field(c)
	}
	b := &remoteBatches{
		worker: r.worker, call: call, id: reply.Scan, n: reply.Batches, schema: arrow.NewSchema(fields, nil),
		ahead: map[int]batchRecord{},
	}
	if err := b.keep(m, reply.First); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// remoteBatches is a scan of a table of the server.
type remoteBatches struct {
	worker *worker
	call   uint64
	id     uint64
	n      int
	schema *arrow.Schema

	mu    sync.Mutex
	ahead map[int]batchRecord // received before they were requested
}

type batchRecord struct {
	rec     arrow.Record
	lasting bool
}

func (b *remoteBatches) Len() int { return b.n }

func (b *remoteBatches) Release() {
	for _, r := range b.ahead {
		r.rec.Release()
	}
	b.worker.tell(opReleaseScan, handle{b.id})
}

func (b *remoteBatches) Batch(i int) (rec arrow.Record, lasting bool, err error) {
	b.mu.Lock()
	r, ok := b.ahead[i]
	delete(b.ahead, i)
	b.mu.Unlock()
	if !ok {
		if r, err = b.fetch(i); err != nil {
			return nil, false, err
		}
	}
	return r.rec, r.lasting, nil
}

// fetch requests a batch, and keeps the batches that come with it.
func (b *remoteBatches) fetch(i int) (batch batchRecord, err error) {
	var reply batchReply
	m, err := b.worker.ask(opBatch, batchRequest{b.call, b.id, i}, &reply)
	if err != nil {
		return batch, err
	}
	defer m.close()
	if err := b.keep(m, reply); err != nil {
		return batch, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, ok := b.ahead[i]
	if !ok {
		return batch, errAsked
	}
	delete(b.ahead, i)
	return batch, nil
}

// keep reads the batches of a reply.
func (b *remoteBatches) keep(m *message, reply batchReply) error {
	from := bufferSource{body: m.body, mem: m.mem, files: b.worker.file}
	for _, sent := range reply.Batches {
		rec, err := from.decode(b.schema, sent.Layout)
		if err != nil {
			return err
		}
		lasting := sent.Lasting && b.worker.hold(b.call, rec, int64(len(m.body)))
		b.mu.Lock()
		if old, ok := b.ahead[sent.Batch]; ok {
			old.rec.Release()
		}
		b.ahead[sent.Batch] = batchRecord{rec, lasting}
		b.mu.Unlock()
	}
	return nil
}

// notice handles the notices about files, in their order.
func (w *worker) notice(m *message) bool {
	switch m.op {
	case opFile:
		var r fileNotice
		if m.read(&r) != nil || len(m.fds) != 1 {
			return true
		}
		mapped, err := mapFile(m.fds[0])
		if err != nil {
			return true // batches in it are an error
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

// maxHeldBytes is the maximum size of sent batches that rows hold. Batches in mapped files count
// nothing.
const maxHeldBytes = 256 << 20

// hold keeps a batch, of which bytes were sent, until the rows of a request are closed. It reports
// false if there are no such rows, or no room.
func (w *worker) hold(call uint64, rec arrow.Record, bytes int64) bool {
	rows, err := lookup(w, w.rows, call)
	if err != nil {
		return false
	}
	rows.mu.Lock()
	defer rows.mu.Unlock()
	if rows.bytes+bytes > maxHeldBytes {
		return false
	}
	rec.Retain()
	rows.bytes += bytes
	rows.held = append(rows.held, rec)
	return true
}

// forget closes files. Batches in use keep their mappings.
func (w *worker) forget(numbers []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range numbers {
		w.files[n].release()
		delete(w.files, n)
	}
}
