package wire

import (
	"errors"
	"net"
	"testing"

	"golang.org/x/net/http2"
)

// TestUnread has a client cause acknowledgements and read none. What the connection holds of them
// is bounded, and then it is closed.
func TestUnread(t *testing.T) {
	for _, size := range []int{0, 8} {
		s := &sink{}
		blocked := make(chan struct{})
		c := newConn(s, func(*net.Buffers) error {
			<-blocked
			return net.ErrClosed
		})
		var why error
		c.refused = func(err error) { why = err }
		parts := frame(byte(http2.FrameSettings), byte(http2.FlagSettingsAck), 0, make([]byte, size))
		var err error
		n := 0
		for ; err == nil && n < 100*maxControlFrames; n++ {
			for _, p := range parts {
				if _, err = c.Write(p); err != nil {
					break
				}
			}
			c.mu.Lock()
			if b := c.batch; b.controlFrames > maxControlFrames || cap(b.runs) > 2*maxControlFrames ||
				cap(b.copied) > 2*copyBytes {
				t.Fatalf("%d frames of %d bytes: a batch holds %d, with room for %d", n, size, b.controlFrames,
					cap(b.runs))
			}
			c.mu.Unlock()
		}
		if !errors.Is(err, ErrUnread) || !errors.Is(why, ErrUnread) || !s.closed.Load() {
			t.Errorf("after %d frames of %d bytes: %v, told %v, closed %v", n, size, err, why, s.closed.Load())
		}
		if _, err := c.Write(parts[0]); !errors.Is(err, ErrUnread) {
			t.Errorf("a later Write gives %v", err)
		}
		close(blocked)
	}
}

// TestMuchRead sends more frames than a batch takes to a client that reads them: nothing is refused
// or lost.
func TestMuchRead(t *testing.T) {
	sent := 0
	c := newConn(&sink{}, func(b *net.Buffers) error {
		for _, p := range *b {
			sent += len(p)
		}
		return nil
	})
	ack := frame(byte(http2.FrameSettings), byte(http2.FlagSettingsAck), 0)[0]
	const frames = 10 * maxControlFrames
	for range frames {
		if _, err := c.Write(ack); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		for c.busy { // until the client has read it
			c.sent.Wait()
		}
		c.mu.Unlock()
	}
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	if sent != frames*len(ack) {
		t.Errorf("%d bytes are sent of %d", sent, frames*len(ack))
	}
}

// TestHeldBytes checks that a batch counts what frames without payload take.
func TestHeldBytes(t *testing.T) {
	var b batch
	for i := range uint32(1000) {
		b.beginFrame(header(frame(frameData, byte(http2.FlagDataEndStream), i)[0]), minFrameBytes)
	}
	if b.bytes < 1000*100 {
		t.Errorf("1000 frames count as %d bytes", b.bytes)
	}
}
