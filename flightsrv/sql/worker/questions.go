package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// What a worker asks the server for: tables, scans of them, and their batches.

// handle answers the questions of the worker. A panic is an error of the statement that asks.
func (w *process) handle(m *message) (head any, b *body, err error) {
	defer func() {
		if v := recover(); v != nil {
			w.pool.cfg.Log.Error().Any("panic", v).Bytes("stack", debug.Stack()).Msg("a table for SQL could not be read")
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	switch m.op {
	case opResolve:
		return answer(m, w.resolve)
	case opScan:
		return answer(m, w.scan)
	case opBatch:
		return w.batch(m)
	case opReleaseScan:
		return answer(m, w.releaseScan)
	case opReleaseRelation:
		return answer(m, w.releaseRelation)
	}
	return nil, nil, fmt.Errorf("operation %d", m.op)
}

// under gives the call that a question comes of.
func (w *process) under(id uint64) (*call, error) {
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
	c, err := w.under(r.Call)
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

func (w *process) scan(r scanRequest) (any, error) {
	c, err := w.under(r.Call)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	relation := w.relations[r.Relation]
	w.mu.Unlock()
	if relation == nil {
		return nil, errEnded
	}
	b, err := relation.Scan(c.ctx, r.Columns)
	if err != nil {
		return nil, w.note(c, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.scans == nil {
		b.Release()
		return nil, errEnded
	}
	w.last++
	w.scans[w.last] = &scan{Batches: b}
	return scanReply{w.last, b.Len()}, nil
}

func (w *process) batch(m *message) (any, *body, error) {
	var r batchRequest
	if err := m.read(&r); err != nil {
		return nil, nil, err
	}
	c, err := w.under(r.Call)
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	s := w.scans[r.Scan]
	w.mu.Unlock()
	if s == nil {
		return nil, nil, errEnded
	}
	s.using.RLock()
	defer s.using.RUnlock()
	if s.done || r.Batch < 0 || r.Batch >= s.Len() {
		return nil, nil, errEnded
	}
	if err := context.Cause(c.ctx); err != nil {
		return nil, nil, w.note(c, err)
	}
	rec, lasting, err := s.Batch(r.Batch)
	if err != nil {
		return nil, nil, w.note(c, err)
	}
	b := &body{done: rec.Release}
	l, err := encode(rec, b, w.locate)
	if err != nil {
		rec.Release()
		return nil, nil, w.note(c, err)
	}
	return batchReply{l, lasting}, b, nil
}

// close ends a scan when no batch of it is being sent.
func (s *scan) close() {
	s.using.Lock()
	defer s.using.Unlock()
	if !s.done {
		s.done = true
		s.Release()
	}
}

func (w *process) releaseScan(r handle) (any, error) {
	w.mu.Lock()
	s := w.scans[r.ID]
	delete(w.scans, r.ID)
	w.mu.Unlock()
	if s != nil {
		s.close()
	}
	return nil, nil
}

func (w *process) releaseRelation(r handle) (any, error) {
	w.mu.Lock()
	relation := w.relations[r.ID]
	delete(w.relations, r.ID)
	w.mu.Unlock()
	if relation != nil {
		relation.Release()
	}
	return nil, nil
}

// locate finds the file that a buffer lies in, and has the worker map it.
func (w *process) locate(buffer []byte) (number, at int64, ok bool) {
	if w.pool.cfg.Locate == nil {
		return 0, 0, false
	}
	f, at, ok := w.pool.cfg.Locate(buffer)
	if !ok {
		return 0, 0, false
	}
	id := fileID{f.Dev, f.Inode}
	w.mu.Lock()
	defer w.mu.Unlock()
	if number, ok := w.files[id]; ok {
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
	w.files[id] = w.lastFile
	return w.lastFile, at, true
}

// forget has an unused worker give up files, if they are many.
func (w *process) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.files) <= keptFiles {
		return
	}
	var numbers []int64
	for _, n := range w.files {
		numbers = append(numbers, n)
	}
	clear(w.files)
	_ = w.peer.send(opForget, 0, forgetNotice{numbers}, nil) // a process that is gone needs none
}
