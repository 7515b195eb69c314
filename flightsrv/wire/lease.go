package wire

import (
	"bytes"
	"sync/atomic"
	"weak"

	"google.golang.org/grpc/mem"
)

// lease counts those who still read lent memory: the buffers that gRPC has, and the batches that are not sent. To gRPC it is the pool that the buffers came from.
type lease struct {
	uses    atomic.Int32
	release func() // nil: nothing to release
}

// Get is of mem.BufferPool; nobody asks a lease for a buffer.
func (l *lease) Get(n int) *[]byte {
	b := make([]byte, n)
	return &b
}

// Put ends one use.
func (l *lease) Put(*[]byte) {
	if l.uses.Add(-1) == 0 && l.release != nil {
		l.release()
	}
}

// take begins a use, unless there is none any more.
func (l *lease) take() bool {
	for {
		n := l.uses.Load()
		if n == 0 {
			return false
		}
		if l.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// loan is what gRPC is going to write of a lease. gRPC drops buffers without a word when a stream or the connection is lost: so a loan doesn't keep its lease.
type loan struct {
	rest  [][]byte // in the order in which they are written
	lease weak.Pointer[lease]
}

// Lend gives gRPC's buffers of parts, for a message that is sent over c. Nobody changes the parts until release is called, once. If gRPC drops them without a word, it isn't
// called, and all that they are is garbage. nil is a Conn to which every Write is a copy.
func (c *Conn) Lend(parts [][]byte, release func()) mem.BufferSlice {
	l := &lease{release: release}
	l.uses.Store(1)
	out := make(mem.BufferSlice, 0, len(parts)+1)
	lent := make([][]byte, 0, len(parts))
	for _, b := range parts {
		b = b[:len(b):len(b)]
		if mem.IsBelowBufferPoolingThreshold(len(b)) { // gRPC would not tell when it is done with it
			out = append(out, mem.SliceBuffer(bytes.Clone(b)))
			continue
		}
		l.uses.Add(1)
		lent = append(lent, b)
		out = append(out, mem.NewBuffer(&b, l))
	}
	if c != nil && len(lent) > 0 {
		c.expect(&loan{rest: lent, lease: weak.Make(l)})
	}
	l.Put(nil)
	return out
}

// expect adds a loan, and forgets those that are over.
func (c *Conn) expect(n *loan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	going := c.loans[:0]
	for _, l := range c.loans {
		if v := l.lease.Value(); v != nil && v.uses.Load() > 0 && len(l.rest) > 0 {
			going = append(going, l)
		}
	}
	clear(c.loans[len(going):])
	c.loans = append(going, n)
}

// lender gives the lease of b, which gRPC writes, or nil if b is not what any loan goes on with. Two loans may be of the same memory: it doesn't matter which
// of them is taken, since neither lease ends before gRPC has returned from writing its last byte.
func (c *Conn) lender(b []byte) *lease {
	for _, l := range c.loans {
		if len(l.rest) == 0 || &l.rest[0][0] != &b[0] || len(l.rest[0]) < len(b) {
			continue
		}
		if l.rest[0] = l.rest[0][len(b):]; len(l.rest[0]) == 0 {
			l.rest = l.rest[1:]
		}
		return l.lease.Value()
	}
	return nil
}
