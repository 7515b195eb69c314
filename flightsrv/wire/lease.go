package wire

import (
	"sync/atomic"
	"weak"

	"google.golang.org/grpc/mem"
)

// lease counts those who still read lent memory: the buffers that gRPC has, and the batches that
// are not sent. To gRPC it is the pool that the buffers came from.
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

// loan is what gRPC is going to write of a lease. gRPC drops buffers without a word when a stream
// or the connection is lost: so a loan doesn't keep its lease.
type loan struct {
	rest  [][]byte // in the order in which they are written
	lease weak.Pointer[lease]
}

// Lend returns gRPC's buffers of a message that is sent over c: of head, which is the garbage
// collector's, and of parts, which nobody changes until release is called, once. If gRPC drops them
// without a word, it isn't called, and all that they are is garbage. nil is a Conn to which every
// Write is a copy.
func (c *Conn) Lend(head []byte, parts [][]byte, release func()) mem.BufferSlice {
	large, smallBytes := 0, 0
	for _, b := range parts {
		if isSmall(b) {
			smallBytes += len(b)
		} else {
			large++
		}
	}
	l := &lease{release: release}
	l.uses.Store(1)
	out := append(make(mem.BufferSlice, 0, 1+len(parts)), mem.SliceBuffer(head))
	lent, small := make([][]byte, 0, large), make([]byte, 0, smallBytes) // neither grows
	for _, b := range parts {
		if isSmall(b) {
			small = append(small, b...)
			out = append(out, mem.SliceBuffer(small[len(small)-len(b):]))
			continue
		}
		lent = append(lent, b[:len(b):len(b)])
		l.uses.Add(1)
		out = append(out, mem.NewBuffer(&lent[len(lent)-1], l))
	}
	if c != nil && large > 0 {
		c.expect(&loan{rest: lent, lease: weak.Make(l)})
	}
	l.Put(nil)
	return out
}

// isSmall says that b is copied: gRPC would not tell when it is done with it.
func isSmall(b []byte) bool { return mem.IsBelowBufferPoolingThreshold(len(b)) }

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

// lender returns the lease of b, which gRPC writes, or nil if b is not what any loan goes on with.
// Two loans may be of the same memory: it doesn't matter which of them is taken, since neither
// lease ends before gRPC has returned from writing its last byte.
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
