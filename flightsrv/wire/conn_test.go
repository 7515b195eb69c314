package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/mem"
)

// sink is a socket that keeps what is sent.
type sink struct {
	net.Conn
	closed atomic.Bool
}

func (s *sink) Close() error {
	s.closed.Store(true)
	return nil
}

// frame as gRPC writes it: the header, then the parts of the payload.
func frame(kind, flags byte, stream uint32, payload ...[]byte) [][]byte {
	n := 0
	for _, p := range payload {
		n += len(p)
	}
	h := header{3: kind, 4: flags, 5: byte(stream >> 24), 6: byte(stream >> 16), 7: byte(stream >> 8), 8: byte(stream)}
	h.setLength(n)
	return append([][]byte{h[:]}, payload...)
}

// told is what a client makes of frames: payloads of DATA by stream, up to each frame of another
// kind, and that frame.
func told(t *testing.T, wire []byte, most int) (out []string) {
	t.Helper()
	f := http2.NewFramer(nil, bytes.NewReader(wire))
	f.SetMaxReadFrameSize(uint32(most))
	data := map[uint32][]byte{}
	end := func() {
		for id, b := range data {
			out = append(out, fmt.Sprintf("data %d %x", id, b))
		}
		slices.Sort(out[len(out)-len(data):])
		clear(data)
	}
	for {
		got, err := f.ReadFrame()
		if errors.Is(err, io.EOF) {
			end()
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := got.(*http2.DataFrame); ok && d.Flags == 0 {
			data[d.StreamID] = append(data[d.StreamID], d.Data()...)
			continue
		}
		end()
		h := got.Header()
		var b []byte
		switch got := got.(type) {
		case *http2.DataFrame:
			b = got.Data()
		case *http2.HeadersFrame:
			b = got.HeaderBlockFragment()
		case *http2.PingFrame:
			b = got.Data[:]
		case *http2.RSTStreamFrame:
			b = []byte{byte(got.ErrCode)}
		}
		out = append(out, fmt.Sprintf("%v %v %d %x", h.Type, h.Flags, h.StreamID, b))
	}
}

// TestFrames writes frames of all kinds, in any pieces, and reads what the client would.
func TestFrames(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		most := minFrameBytes << random.IntN(4)
		bytesOf := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			return b
		}
		var sent []byte
		c := newConn(&sink{}, func(b *net.Buffers) error {
			for _, p := range *b {
				sent = append(sent, p...)
			}
			return nil
		})
		c.settings.frameBytes.Store(uint32(most))
		var lent []mem.BufferSlice
		var released atomic.Int32
		var want []byte
		for range 60 {
			id := uint32(1 + 2*random.IntN(4))
			var parts [][]byte
			switch k := random.IntN(12); k {
			case 0:
				parts = frame(byte(http2.FrameHeaders), byte(http2.FlagHeadersEndHeaders), id,
					bytesOf(random.IntN(300)))
			case 1:
				parts = frame(byte(http2.FramePing), byte(http2.FlagPingAck), 0, bytesOf(8))
			case 2:
				parts = frame(byte(http2.FrameRSTStream), 0, id, []byte{0, 0, 0, 8})
			case 3:
				parts = frame(frameData, byte(http2.FlagDataEndStream), id, bytesOf(random.IntN(50)))
			case 4:
				parts = frame(frameData, 0, id)
			default:
				body := [][]byte{bytesOf(1 + random.IntN(3000)), bytesOf(1 + random.IntN(13000))}
				parts = frame(frameData, 0, id, append([][]byte{bytesOf(5)}, body...)...)
				if k > 6 { // lent, and written in pieces
					lent = append(lent, c.Lend(nil, body, func() { released.Add(1) }))
					cut := random.IntN(len(body[1]))
					parts = append(parts[:3:3], body[1][:cut], body[1][cut:])
				}
			}
			for _, p := range parts {
				want = append(want, p...)
				for len(p) > 0 {
					n := len(p)
					if random.IntN(8) == 0 {
						n = 1 + random.IntN(n)
					}
					if _, err := c.Write(p[:n:n]); err != nil {
						t.Fatal(err)
					}
					p = p[n:]
				}
			}
		}
		for _, b := range lent {
			b.Free()
		}
		if err := c.flush(); err != nil {
			t.Fatal(err)
		}
		if got, want := told(t, sent, most), told(t, want, 1<<20); !slices.Equal(got, want) {
			t.Fatalf("seed %d: a client reads\n%.200s\nwant\n%.200s", seed, got, want)
		}
		if n := int(released.Load()); n != len(lent) {
			t.Errorf("seed %d: %d of %d are released", seed, n, len(lent))
		}
	}
}

// TestLent checks that lent memory is sent from where it is, in one frame as large as the client
// takes it, and held until then.
func TestLent(t *testing.T) {
	body := make([]byte, 100<<10)
	var released atomic.Bool
	sending, sent := make(chan net.Buffers), make(chan bool)
	c := newConn(&sink{}, func(b *net.Buffers) error {
		sending <- *b
		<-sent
		return nil
	})
	c.settings.frameBytes.Store(1 << 20)
	lent := c.Lend(nil, [][]byte{body}, func() { released.Store(true) })
	c.mu.Lock()
	c.flushing = true // nothing is sent before it is all there
	c.mu.Unlock()
	for b := body; len(b) > 0; {
		n := min(len(b), minFrameBytes)
		for _, p := range frame(frameData, 0, 1, b[:n]) {
			if _, err := c.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		b = b[n:]
	}
	lent.Free()
	done := make(chan error)
	go func() { done <- c.flush() }()
	out := <-sending
	if len(out) != 2 || len(out[0]) != 9 || &out[1][0] != &body[0] || len(out[1]) != len(body) {
		t.Errorf("sent in %d parts, or copied", len(out))
	}
	if released.Load() {
		t.Error("released before it is sent")
	}
	close(sent)
	if err := <-done; err != nil || !released.Load() {
		t.Errorf("%v, released %v", err, released.Load())
	}
}

// TestUnsaid checks that the last write is sent without a signal that it is the last.
func TestUnsaid(t *testing.T) {
	sent := make(chan int, 1)
	c := newConn(&sink{}, func(b *net.Buffers) error {
		sent <- len(slices.Concat(*b...))
		return nil
	})
	for _, p := range frame(byte(http2.FramePing), 0, 0, make([]byte, 8)) {
		if _, err := c.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if n := <-sent; n != 17 {
		t.Errorf("%d bytes", n)
	}
}

// TestDropped has gRPC forget a message without freeing it: its memory is garbage although the
// connection lives.
func TestDropped(t *testing.T) {
	c := newConn(&sink{}, func(*net.Buffers) error { return nil })
	gone := make(chan bool)
	func() {
		owner := new([16]int)
		runtime.AddCleanup(owner, func(bool) { close(gone) }, true)
		c.Lend(nil, [][]byte{make([]byte, 5000)}, func() { owner[0]++ })
	}()
	deadline := time.After(10 * time.Second)
	for {
		runtime.GC()
		select {
		case <-gone:
			c.Lend(nil, [][]byte{make([]byte, 5000)}, nil).Free()
			if len(c.loans) != 1 {
				t.Errorf("%d loans", len(c.loans))
			}
			return
		case <-deadline:
			t.Fatal("the connection keeps what gRPC has dropped")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestBroken checks that an error of the socket closes it, is that of the next Write, and releases
// what was sent, what waits and what comes.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	for _, how := range []string{"socket", "close"} {
		s := &sink{}
		var c *Conn
		c = newConn(s, func(*net.Buffers) error {
			if how == "close" {
				_ = c.Close()
			}
			return broken
		})
		var released atomic.Int32
		write := func() (err error) {
			body := make([]byte, 10000)
			lent := c.Lend(nil, [][]byte{body}, func() { released.Add(1) })
			defer lent.Free()
			for _, p := range frame(frameData, 0, 1, body) {
				_, err = c.Write(p)
			}
			return err
		}
		c.flushing = true
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if err := c.flush(); !errors.Is(err, broken) {
			t.Errorf("%s: %v", how, err)
		}
		if err := write(); !errors.Is(err, broken) && !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: a Write gives %v", how, err)
		}
		if !s.closed.Load() || released.Load() != 2 {
			t.Errorf("%s: closed %v, %d of 2 released", how, s.closed.Load(), released.Load())
		}
	}
	c := newConn(&sink{}, func(*net.Buffers) error { return nil })
	var released atomic.Bool
	body := make([]byte, 10000)
	lent := c.Lend(nil, [][]byte{body}, func() { released.Store(true) })
	h := frame(frameData, 0, 1, body, body)
	_, _ = c.Write(h[0])
	_, _ = c.Write(h[1])
	lent.Free()
	if err := c.flush(); err != nil || released.Load() {
		t.Errorf("half a frame is sent: %v", err)
	}
	if err := c.Close(); err != nil || !released.Load() {
		t.Errorf("%v; half a frame is not released by Close", err)
	}
}

// TestCopies checks that what isn't lent is sent before it takes much memory.
func TestCopies(t *testing.T) {
	most := 0
	c := newConn(&sink{}, func(b *net.Buffers) error {
		most = max(most, len(slices.Concat(*b...)))
		return nil
	})
	for range 100 {
		for _, p := range frame(frameData, 0, 1, make([]byte, minFrameBytes)) {
			if _, err := c.Write(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	if most > copyBytes+minFrameBytes+2*len(header{})*100 {
		t.Errorf("%d bytes at once", most)
	}
}

// TestSettings reads those of a client in pieces of every size.
func TestSettings(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	write := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	size := func(n uint32) http2.Setting { return http2.Setting{ID: http2.SettingMaxFrameSize, Val: n} }
	var want []uint32 // after each frame
	var ends []int
	add := func(n uint32) { want, ends = append(want, n), append(ends, b.Len()) }
	write(f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}, size(1<<22)))
	add(1 << 22)
	// a payload that looks like settings
	write(f.WriteData(1, false, []byte{0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 1, 0, 0}))
	add(1 << 22)
	write(f.WriteSettingsAck())
	add(1 << 22)
	write(f.WriteSettings(size(1<<14-1), size(1<<24))) // neither is allowed
	add(1 << 22)
	write(f.WriteSettings(size(1 << 14)))
	add(1 << 14)
	write(f.WriteSettings(size(1<<24 - 1)))
	add(1<<24 - 1)
	for step := 1; step < b.Len(); step++ {
		c := newConn(nil, nil)
		at := 0
		for i, end := range ends {
			for at < end {
				n := min(step, end-at)
				c.settings.read(b.Bytes()[at : at+n])
				at += n
			}
			if got := c.settings.frameBytes.Load(); got != want[i] {
				t.Errorf("in pieces of %d: %d after frame %d, want %d", step, got, i, want[i])
			}
		}
	}
}
