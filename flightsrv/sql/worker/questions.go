//go:build linux

package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// The requests of a worker to the server: tables, scans of them, and their batches.

// handle answers the requests of the worker. A panic is an error of the statement.
func (w *process) handle(m *message) (head any, b *body, err error) {
	defer func() {
		if v := recover(); v != nil {
			w.pool.cfg.Log.Error().Any("panic", v).Bytes("stack",
				debug.Stack()).Msg("a table for SQL could not be read")
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	switch m.op {
	case opResolve:
		return answer(m, w.resolve)
	case opScan:
		return w.scan(m)
	case opBatch:
		return w.batch(m)
	}
	return nil, nil, fmt.Errorf("operation %d", m.op)
}

// callOf returns the call that a worker's request belongs to.
func (w *process) callOf(id uint64) (*call, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.calls[id]; c != nil {
		return c, nil
	}
	return nil, errors.New("a question outside of a statement")
}

// note keeps the first error of a call.
func (w *process) note(c *call, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	return err
}

func (w *process) resolve(r resolveRequest) (any, error) {
	c, err := w.callOf(r.Call)
	if err != nil {
		return nil, err
	}
	relation, err := w.pool.resolve(c.ctx, r.Key)
	if err != nil {
		return nil, w.note(c, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.relations == nil {
		relation.Release()
		return nil, errEnded
	}
	w.last++
	w.relations[w.last] = relation
	return resolveReply{w.last, schemaBytes(relation.Schema()), relation.Rows()}, nil
}

// scan starts a scan, and returns its first batches.
func (w *process) scan(m *message) (any, *body, error) {
	var r scanRequest
	if err := m.read(&r); err != nil {
		return nil, nil, err
	}
	c, err := w.callOf(r.Call)
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	relation := w.relations[r.Relation]
	w.mu.Unlock()
	if relation == nil {
		return nil, nil, errEnded
	}
	b, err := relation.Scan(c.ctx, r.Columns)
	if err != nil {
		return nil, nil, w.note(c, err)
	}
	s := &scan{Batches: b}
	w.mu.Lock()
	if w.scans == nil {
		w.mu.Unlock()
		b.Release()
		return nil, nil, errEnded
	}
	w.last++
	reply := scanReply{Scan: w.last, Batches: b.Len()}
	w.scans[w.last] = s
	w.mu.Unlock()
	if reply.Batches == 0 {
		return reply, nil, nil
	}
	first, body, err := w.batches(c, s, 0)
	if err != nil { // the worker does not know the scan, and can't release it
		w.mu.Lock()
		delete(w.scans, reply.Scan)
		w.mu.Unlock()
		s.close()
		return nil, nil, err
	}
	reply.First = first
	return reply, body, nil
}

func (w *process) batch(m *message) (any, *body, error) {
	var r batchRequest
	if err := m.read(&r); err != nil {
		return nil, nil, err
	}
	c, err := w.callOf(r.Call)
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	s := w.scans[r.Scan]
	w.mu.Unlock()
	if s == nil {
		return nil, nil, errEnded
	}
	reply, b, err := w.batches(c, s, r.Batch)
	if err != nil {
		return nil, nil, err
	}
	return reply, b, nil
}

// batches returns a batch, and some of the following ones.
func (w *process) batches(c *call, s *scan, first int) (reply batchReply, b *body, err error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.done || first < 0 || first >= s.Len() {
		return reply, nil, errEnded
	}
	if err := context.Cause(c.ctx); err != nil {
		return reply, nil, w.note(c, err)
	}
	b = &body{}
	var recs []arrow.Record
	b.done = func() {
		for _, rec := range recs {
			rec.Release()
		}
	}
	began := time.Now()
	for i := first; i >= 0; i = s.ahead(first, i, b, time.Since(began)) {
		rec, lasting, err := s.Batch(i)
		if err != nil && i > first {
			break // the worker requests it again if needed
		}
		if err != nil {
			return reply, nil, w.note(c, err)
		}
		recs = append(recs, rec)
		l, err := encode(rec, b, w.locate)
		if err != nil {
			b.done()
			return reply, nil, w.note(c, err)
		}
		reply.Batches = append(reply.Batches, batchEntry{i, l, lasting})
	}
	return reply, b, nil
}

// A reply includes batches that were not requested yet, as long as they take little time and few
// bytes are copied: a few in the first reply, since a query may have a LIMIT, then more.
const (
	aheadFirst = 4
	aheadTime  = time.Millisecond
	aheadBytes = 1 << 20
)

// ahead returns the batch to send after batch i in the reply that starts with batch first; -1:
// none.
func (s *scan) ahead(first, i int, b *body, took time.Duration) int {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.sent = max(s.sent, i+1)
	many := s.sent >= aheadFirst*(first+1)
	if many || s.sent == s.Len() || took > aheadTime || b.size > aheadBytes {
		return -1
	}
	s.sent++
	return s.sent - 1
}

// close ends a scan while none of its batches is being sent.
func (s *scan) close() {
	s.using.Lock()
	defer s.using.Unlock()
	if !s.done {
		s.done = true
		s.Release()
	}
}

// handleNotice handles notices about what the worker no longer uses, before the messages that
// follow them.
func (w *process) handleNotice(m *message) bool {
	if m.op != opReleaseScan && m.op != opReleaseRelation {
		return false
	}
	var r handle
	if m.read(&r) != nil {
		return true
	}
	w.mu.Lock()
	s, relation := w.scans[r.ID], w.relations[r.ID]
	delete(w.scans, r.ID)
	delete(w.relations, r.ID)
	w.mu.Unlock()
	if s != nil {
		s.close()
	}
	if relation != nil {
		relation.Release()
	}
	return true
}

// locate finds the file that contains a buffer, and makes the worker map it.
func (w *process) locate(buffer []byte) (number, at int64, ok bool) {
	f, at, ok := sharedFile(buffer)
	if !ok && w.pool.cfg.Locate != nil {
		f, at, ok = w.pool.cfg.Locate(buffer)
	}
	if !ok {
		return 0, 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if number, ok := w.files[f]; ok {
		return number, at, true
	}
	file, err := f.Open()
	if err != nil {
		return 0, 0, false // it is copied
	}
	defer file.Close()
	w.lastFile++
	if w.peer.send(opFile, 0, fileNotice{w.lastFile}, &body{files: []int{int(file.Fd())}}) != nil {
		return 0, 0, false
	}
	w.files[f] = w.lastFile
	return w.lastFile, at, true
}

// forget makes an unused worker unmap files: those that were removed, or all if there are many.
func (w *process) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy || w.killReason != nil {
		return
	}
	many := len(w.files) > keptFiles
	var numbers []int64
	for f, n := range w.files {
		if many || !f.hasName() {
			numbers = append(numbers, n)
			delete(w.files, f)
		}
	}
	if numbers != nil {
		_ = w.peer.send(opForget, 0, forgetNotice{numbers}, nil) // a process that has ended needs none
	}
}
