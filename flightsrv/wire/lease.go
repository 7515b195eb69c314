package wire

import (
	"sync/atomic"
	"weak"

	"google.golang.org/grpc/mem"
)

// lease counts the readers of lent memory: the buffers that gRPC has, and the batches that are not
// sent. To gRPC it is the pool of the buffers.
type lease struct {
	uses    atomic.Int32
	release func() // nil: nothing to release
}

// Get implements mem.BufferPool. It is not called.
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

// take starts a use, unless all uses have ended.
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

// loan is the part of a lease that gRPC has yet to write. gRPC drops buffers silently when a stream
// or the connection is lost, so a loan does not keep its lease.
type loan struct {
	rest  [][]byte // in the order of writing
	lease weak.Pointer[lease]
}

// Lend returns gRPC's buffers of a message for c: of head, which is on Go's heap, and of parts,
// which must not change until release is called once. If gRPC drops the buffers silently, release
// is not called, and the garbage collector frees them. With a nil Conn, every Write copies.
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

// isSmall reports whether b is copied: gRPC would not signal the end of its use.
func isSmall(b []byte) bool { return mem.IsBelowBufferPoolingThreshold(len(b)) }

// expect adds a loan, and removes those that are complete.
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

// lender returns the lease of b, which gRPC writes; nil if b does not continue any loan. Two loans
// may be of the same memory. Either may be chosen, since no lease ends before gRPC has written its
// last byte.
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
