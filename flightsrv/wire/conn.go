// Package wire is between gRPC and the socket of a connection. gRPC for Go writes HTTP/2 frames of
// 16 KiB, whatever the client accepts, and copies them into a buffer to save system calls. Here
// frames are gathered without that copy if their memory is lent (Conn.Lend). DATA frames of one
// stream are joined up to the client's maximum (SETTINGS_MAX_FRAME_SIZE, RFC 9113, 6.5.2).
// Everything is sent with one writev.
//
// A client reads what gRPC wrote, except for two differences: where DATA frames begin and end, and
// the order of DATA frames of different streams between two frames of another kind. Neither has a
// meaning in HTTP/2: flow control counts payload, and streams are independent.
package wire

import (
	"errors"
	"net"
	"sync"
)

// Limits of a batch. While one is sent, another is gathered, so that twice as much may precede what
// is written later on the connection. The windows of a slow client bound it. Measured over TCP,
// CPU-seconds per GB of a server with 256 KiB, 1, 2, 4 MiB at a time: 0.32, 0.26, 0.25, 0.23.
const (
	gatherBytes = 4 << 20   // a batch with this many bytes is sent,
	copyBytes   = 128 << 10 // or with this many of them copied
	// maxControlFrames is the maximum number of frames other than DATA in a batch. A client that
	// reads causes no more: it has at most 1024 open calls, each with a header and a trailer that
	// it has not read.
	maxControlFrames = 4096
	// heldPerFrame is the memory of a frame without its payload: a run, its list of parts, and its
	// entries in the buffers to send.
	heldPerFrame = 160
)

// ErrUnread is the error of a connection that is closed because its client makes the server send
// frames and does not read them.
var ErrUnread = errors.New("the client does not read the frames that it causes (acknowledgements, resets, trailers)")

// Conn is a connection of a gRPC server without a write buffer (grpc.WriteBufferSize(0)). An error
// of the socket closes it, and is returned by the next Write.
type Conn struct {
	net.Conn
	send     func(*net.Buffers) error // sends all buffers
	socket   *socket                  // nil in tests
	settings settings                 // of the client; only Read changes them
	refused  func(error)              // called with the reason for which Conn closes the connection; may be nil

	sending *batch // the batch that is being sent, or was sent last; of the goroutine that set busy

	mu       sync.Mutex
	sent     *sync.Cond // busy has ended
	err      error
	frames   splitter
	batch    *batch // is being gathered
	loans    []*loan
	flushing bool // a goroutine flushes
	busy     bool // spare is being sent
}

func newConn(conn net.Conn, send func(*net.Buffers) error) *Conn {
	c := &Conn{Conn: conn, send: send, batch: &batch{}, sending: &batch{}}
	c.sent = sync.NewCond(&c.mu)
	c.settings.frameBytes.Store(minFrameBytes)
	return c
}

// SetUser names the user whose turns the connection waits for: the user of its latest call.
func (c *Conn) SetUser(name string) {
	if c != nil && c.socket != nil {
		c.socket.setUser(name)
	}
}

// Read also reads the settings of the client.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.settings.read(b[:n])
	return n, err
}

// Write keeps b if it is lent, or else a copy. gRPC does not signal the end of its writes, so a
// goroutine sends a batch that is not full. It runs as soon as gRPC's goroutine waits, or earlier
// on another core.
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

// gather adds b to the batch. full means that the batch must be sent now.
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
	if c.batch.controlFrames >= maxControlFrames {
		return false, c.sendFull()
	}
	if c.batch.full() {
		return true, nil
	}
	c.wake()
	return false, nil
}

// wake starts a goroutine that flushes. Conn.mu is held.
func (c *Conn) wake() {
	if !c.flushing {
		c.flushing = true
		go c.flush() //nolint:errcheck // the next Write returns it
	}
}

// sendFull starts a goroutine that sends the batch, which is full of frames that the client must
// read. It returns ErrUnread if the previous batch is not sent yet. Conn.mu is held.
func (c *Conn) sendFull() error {
	if c.busy {
		return ErrUnread
	}
	b := c.take()
	go c.transmit(b) //nolint:errcheck // the next Write returns it
	return nil
}

// put adds a part of the payload of the current frame.
func (c *Conn) put(b []byte) {
	if c.batch.takesData() {
		if l := c.lender(b); l != nil && c.batch.retain(l) {
			c.batch.add(b)
			return
		}
	}
	c.batch.addCopy(b)
}

// flush sends the batch if it ends with a complete frame. Otherwise, the Write that completes the
// frame sends it.
func (c *Conn) flush() error {
	c.mu.Lock()
	for c.busy {
		c.sent.Wait()
	}
	c.flushing = false
	if c.err != nil || !c.frames.atFrameStart() || c.batch.bytes == 0 {
		defer c.mu.Unlock()
		return c.err
	}
	b := c.take()
	c.mu.Unlock()
	return c.transmit(b)
}

// take starts a new batch, and returns the old one for transmit. Conn.mu is held, and nothing is
// being sent.
func (c *Conn) take() *batch {
	b := c.batch
	c.batch, c.busy = c.sending, true
	return b
}

// transmit sends b, which take returned.
func (c *Conn) transmit(b *batch) error {
	err := c.send(b.buffers())
	b.reset()
	if err != nil { // a partial frame may be sent, and nothing can follow it
		_ = c.Conn.Close()
		c.fail(err)
	}
	c.mu.Lock()
	c.sending, c.busy = b, false
	c.sent.Broadcast()
	c.mu.Unlock()
	return err
}

// Close closes the connection. Unsent bytes are lost.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.fail(net.ErrClosed)
	return err
}

// fail makes each Write from now on return err, and releases lent memory. Memory that is being sent
// is released when the socket returns.
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
