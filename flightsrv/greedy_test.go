package flightsrv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/apache/arrow/go/v17/arrow/flight"
)

// greedyOfTests has the binary of the tests run the greedy client, as "addr connections streams".
const greedyOfTests = "VIBEFLIGHT_TEST_GREEDY"

// startGreedy starts a process that reads big.fake again and again, until stop is called. Stop
// returns the number of bytes that were read.
func startGreedy(t *testing.T, addr string, connections, streams int) (stop func() (read int64)) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGreedyClient$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", greedyOfTests, addr, connections, streams))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return sync.OnceValue(func() (read int64) {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the greedy client: %v\n%s", err, &out)
		}
		if _, err := fmt.Fscan(&out, &read); err != nil {
			t.Errorf("the greedy client: %v", err)
		}
		return read
	})
}

// TestGreedyClient is the process of startGreedy. It ends when its standard input does.
func TestGreedyClient(t *testing.T) {
	var addr string
	var connections, streams int
	if _, err := fmt.Sscan(os.Getenv(greedyOfTests), &addr, &connections, &streams); err != nil {
		t.Skip("it is a process of TestGreedyUser")
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	var read atomic.Int64
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			g := greedyConn{authority: addr, read: &read}
			if err := g.run(ctx, streams); ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	fmt.Println(read.Load())
}

// greedyConn is a connection of a client that drops what it reads. It costs less than a Flight
// client, which copies and decodes.
type greedyConn struct {
	authority string
	read      *atomic.Int64 // bytes
	out       *bufio.Writer
	frames    *http2.Framer
	lastID    uint32
}

// Windows of flow control.
const (
	greedyWindow     = 4 << 20 // of a stream
	greedyConnWindow = 64 << 20
	greedyFrame      = 1 << 20
)

// run has streams calls in progress until ctx ends.
func (g *greedyConn) run(ctx context.Context, streams int) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.2.1")}}
	conn, err := dialer.DialContext(ctx, "tcp", g.authority)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	g.out = bufio.NewWriter(conn)
	_, _ = g.out.WriteString(http2.ClientPreface)
	g.frames = http2.NewFramer(g.out, bufio.NewReaderSize(conn, 256<<10))
	g.frames.SetReuseFrames()
	g.frames.SetMaxReadFrameSize(greedyFrame)
	// Errors of g.out remain until Flush.
	_ = g.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: greedyWindow},
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: greedyFrame})
	_ = g.frames.WriteWindowUpdate(0, greedyConnWindow)
	for range streams {
		g.call()
	}
	due := map[uint32]uint32{} // bytes to add to each window; 0 is the window of the connection
	for {
		if err := g.out.Flush(); err != nil {
			return err
		}
		frame, err := g.frames.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.DataFrame:
			g.read.Add(int64(frame.Length))
			for id, window := range map[uint32]uint32{frame.StreamID: greedyWindow, 0: greedyConnWindow} {
				if due[id] += frame.Length; due[id] > window/4 {
					_ = g.frames.WriteWindowUpdate(id, due[id])
					due[id] = 0
				}
			}
		case *http2.HeadersFrame:
			if frame.StreamEnded() {
				delete(due, frame.StreamID)
				g.call()
			}
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = g.frames.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = g.frames.WritePing(true, frame.Data)
			}
		}
	}
}

// call begins a DoGet.
func (g *greedyConn) call() {
	id := g.lastID + 1
	g.lastID += 2
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, h := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", flightPrefix + "DoGet"},
		{":authority", g.authority},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: true}) // in no table
	}
	_ = g.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true})
	ticket, _ := proto.Marshal(&flight.Ticket{Ticket: []byte("big.fake")})
	message := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(ticket)))
	_ = g.frames.WriteData(id, true, append(message, ticket...))
}
