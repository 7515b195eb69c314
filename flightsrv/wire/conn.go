// Package wire sits between gRPC and the socket of a connection. gRPC for Go writes HTTP/2 frames
// of 16 KiB, whatever the client would take, and copies them into a buffer, so that not each is a
// system call. Here they are gathered, without that copy as far as their memory is lent
// (Conn.Lend); DATA frames of one stream are joined up to what the client takes
// (SETTINGS_MAX_FRAME_SIZE, RFC 9113, 6.5.2); and the lot goes out with one writev.
//
// What a client reads is what gRPC wrote, but for where its DATA frames begin and end, and for the
// order of DATA frames of different streams between two frames of another kind. Neither means
// anything in HTTP/2: flow control counts payload, and streams are independent.
package wire

import (
	"errors"
	"net"
	"sync"
)

// Limits of a batch. While one is sent another is gathered, so that twice as much may go ahead of
// what comes later on the connection; a client that reads slowly bounds it with its windows.
// Measured over TCP, CPU-seconds per GB of a server with 256 KiB, 1, 2, 4 MiB a time: 0.32, 0.26,
// 0.25, 0.23.
const (
	gatherBytes = 4 << 20   // a batch with so many bytes is sent,
	copyBytes   = 128 << 10 // or with so many of them copied
	// maxOwed is the most frames of other kinds than DATA in a batch. A client that reads has
	// caused no more: it has at most 1024 calls open, each with a header and a trailer that it has
	// not seen.
	maxOwed = 4096
	// heldPerFrame is the memory of a frame without its payload: a run, its list of parts, and its
	// entries in the buffers to send.
	heldPerFrame = 160
)

// ErrUnread is the error of a connection that is closed because its client makes the server send
// frames, and reads none of them.
var ErrUnread = errors.New("the client does not read the frames that it causes (acknowledgements, resets, trailers)")

// Conn is a connection of a gRPC server that has no write buffer of its own
// (grpc.WriteBufferSize(0)). An error of the socket closes it, and is that of the next Write.
type Conn struct {
	net.Conn
	send     func(*net.Buffers) error // all of them
	settings settings                 // of the client; only Read changes them
	refused  func(error)              // told why Conn itself has closed the connection; nil: nobody is

	spare *batch // the one that is sent, or was last; of the goroutine that set busy

	mu     sync.Mutex
	sent   *sync.Cond // busy ends
	err    error
	frames splitter
	batch  *batch // what is gathered
	loans  []*loan
	woken  bool // there is a goroutine that flushes
	busy   bool // spare is being sent
}

func newConn(conn net.Conn, send func(*net.Buffers) error) *Conn {
	c := &Conn{Conn: conn, send: send, batch: &batch{}, spare: &batch{}}
	c.sent = sync.NewCond(&c.mu)
	c.settings.frameBytes.Store(minFrameBytes)
	return c
}

// Read looks at what it reads for the settings of the client.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.settings.read(b[:n])
	return n, err
}

// Write keeps b if it is lent, or else a copy. gRPC doesn't say when it has no more to write, so a
// batch that isn't full is sent by a goroutine: it runs as soon as gRPC's waits, or before if
// another core has nothing to do.
func (c *Conn) Write(b []byte) (int, error) {
	full, err := c.gather(b)
	if full {
		err = c.flush()
	}
	if errors.Is(err, ErrUnread) {
		_ = c.Conn.Close()
		c.fail(err)
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// gather adds b to the batch. full: it is to be sent now.
func (c *Conn) gather(b []byte) (full bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false, c.err
	}
	for len(b) > 0 {
		piece, kind := c.frames.next(b)
		b = b[len(piece):]
		switch kind {
		case headEnd:
			c.batch.beginFrame(c.frames.head, int(c.settings.frameBytes.Load()))
		case payload:
			c.put(piece)
		}
	}
	if !c.frames.atFrameStart() {
		return false, nil
	}
	if c.batch.owed >= maxOwed {
		return false, c.sendFull()
	}
	if c.batch.full() {
		return true, nil
	}
	c.wake()
	return false, nil
}

// wake has a goroutine flush. Conn.mu is held.
func (c *Conn) wake() {
	if !c.woken {
		c.woken = true
		go c.flush() //nolint:errcheck // the next Write gives it
	}
}

// sendFull has a goroutine send the batch, which is full of frames that the client has to read. It
// gives ErrUnread if the batch ahead of it is not sent yet. Conn.mu is held.
func (c *Conn) sendFull() error {
	if c.busy {
		return ErrUnread
	}
	b := c.take()
	go c.transmit(b) //nolint:errcheck // the next Write gives it
	return nil
}

// put adds a piece of the payload of the frame that was begun last.
func (c *Conn) put(b []byte) {
	if c.batch.takesData() {
		if l := c.lender(b); l != nil && c.batch.retain(l) {
			c.batch.add(b)
			return
		}
	}
	c.batch.addCopy(b)
}

// flush sends the batch if it ends where a frame does. If not, the Write that ends the frame has it
// sent.
func (c *Conn) flush() error {
	c.mu.Lock()
	for c.busy {
		c.sent.Wait()
	}
	c.woken = false
	if c.err != nil || !c.frames.atFrameStart() || c.batch.bytes == 0 {
		defer c.mu.Unlock()
		return c.err
	}
	b := c.take()
	c.mu.Unlock()
	return c.transmit(b)
}

// take begins a new batch, and gives the old one for transmit. Conn.mu is held, and nothing is
// being sent.
func (c *Conn) take() *batch {
	b := c.batch
	c.batch, c.busy = c.spare, true
	return b
}

// transmit sends b, which take gave.
func (c *Conn) transmit(b *batch) error {
	err := c.send(b.buffers())
	b.reset()
	if err != nil { // half a frame may be sent, and nothing can follow that
		_ = c.Conn.Close()
		c.fail(err)
	}
	c.mu.Lock()
	c.spare, c.busy = b, false
	c.sent.Broadcast()
	c.mu.Unlock()
	return err
}

// Close closes the connection. What is not sent by then is lost.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.fail(net.ErrClosed)
	return err
}

// fail has each Write from now on give err, and gives back what is lent, but for what is being
// sent: that is given back when the socket has returned.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	b, first := c.batch, c.err == nil
	if first {
		c.err = err
	}
	c.batch, c.loans = &batch{}, nil
	c.mu.Unlock()
	b.reset()
	if first && errors.Is(err, ErrUnread) && c.refused != nil {
		c.refused(err)
	}
}
