package flightsrv

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/flightsrv/frame"
)

// until waits for what a goroutine of the server does.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// TestMaxConnections opens more connections than there may be, on both kinds of sockets. Those
// beyond are closed and counted, and one that is closed makes room.
func TestMaxConnections(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = t.TempDir() + "/s"
		}
		inner, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		refused := make(chan string, 100)
		ld := &clientLoad{maxConnections: 2, refused: func(what string, _ net.Addr) { refused <- what }}
		l := limitListener{inner, ld}
		accepted := make(chan net.Conn, 100)
		ended := make(chan error, 1)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					ended <- err
					return
				}
				accepted <- conn
			}
		}()
		dial := func() net.Conn {
			t.Helper()
			conn, err := net.Dial(network, inner.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			return conn
		}
		dial()
		dial()
		first, second := <-accepted, <-accepted
		for range 3 {
			over := dial()
			if what := <-refused; !strings.Contains(what, "--max-connections") {
				t.Errorf("%s: told %q", network, what)
			}
			if _, err := over.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: a connection beyond the limit is open", network)
			}
		}
		if n := ld.now(); n.Open != 2 || n.Refused != 3 {
			t.Errorf("%s: %+v", network, n)
		}
		_ = first.Close()
		_ = first.Close() // it counts once
		dial()
		third := <-accepted
		if n := ld.now(); n.Open != 2 {
			t.Errorf("%s: %+v", network, n)
		}
		_, _ = second.Close(), third.Close()
		if n := ld.now(); n.Open != 0 {
			t.Errorf("%s: %+v", network, n)
		}
		_ = inner.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", network, err)
		}
	}
}

// TestMaxStreams opens calls that never send their message, over two connections. One beyond the
// limit is ResourceExhausted, until another ends.
func TestMaxStreams(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) { c.MaxStreams = 3 })
	ctx, cancel := context.WithCancel(t.Context())
	var conns []*grpc.ClientConn
	open := func(ctx context.Context, conn *grpc.ClientConn, method string) grpc.ClientStream {
		t.Helper()
		desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
		s, err := conn.NewStream(ctx, desc, flightPrefix+method, grpc.ForceCodecV2(frame.NewCodec()))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for range 2 {
		conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	open(ctx, conns[0], "GetFlightInfo")
	open(ctx, conns[1], "DoGet")
	numbers := func() (connections, error) { // one call by itself
		s := open(t.Context(), conns[1], "DoAction")
		b := []byte("\x0a\x05stats")
		_ = s.SendMsg(frame.FromMessage(b))
		_ = s.CloseSend()
		var result flight.Result
		if err := s.RecvMsg(&result); err != nil {
			return connections{}, err
		}
		if err := s.RecvMsg(&flight.Result{}); !errors.Is(err, io.EOF) {
			t.Errorf("a second result: %v", err)
		}
		var all struct{ Connections connections }
		err := json.Unmarshal(result.Body, &all)
		return all.Connections, err
	}
	until(t, "2 calls are open", func() bool {
		n, err := numbers()
		return err == nil && n.Calls == 3 && n.Open >= 2
	})
	ends := make(chan error, 1) // of the third call
	third := func() {
		last := open(ctx, conns[0], "DoExchange")
		go func() { ends <- last.RecvMsg(&flight.FlightData{}) }()
	}
	third()
	until(t, "a call beyond the limit is refused", func() bool {
		select {
		case err := <-ends: // the place of an earlier call was not free yet
			if status.Code(err) != codes.ResourceExhausted {
				t.Fatal(err)
			}
			third()
		default:
		}
		_, err := numbers()
		if err != nil && (status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(),
			"--max-streams")) {
			t.Fatal(err)
		}
		return err != nil
	})
	cancel()
	if err := <-ends; status.Code(err) != codes.Canceled {
		t.Error(err)
	}
	until(t, "the calls are over", func() bool {
		n, err := numbers()
		return err == nil && n.Calls == 1 && n.RefusedCalls > 0
	})
}

// TestPlaceOfHandler ends the stream of a call whose handler goes on: its place is not free until
// that returns.
func TestPlaceOfHandler(t *testing.T) {
	ld := &clientLoad{maxStreams: 1, refused: func(string, net.Addr) {}}
	ctx, end := context.WithCancel(t.Context())
	in, err := ld.acquireSlot(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	leave := holdSlot(in)
	end()
	p := in.Value(callSlotKey{}).(*callSlot)
	until(t, "the stream has left", func() bool { return p.uses.Load() == 1 })
	if _, err := ld.acquireSlot(t.Context(), nil); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("another call while the handler runs: %v", err)
	}
	leave()
	if n := ld.now(); n.Calls != 0 || n.RefusedCalls != 1 {
		t.Errorf("%+v", n)
	}
	holdSlot(in)() // too late: it is free
	if n := ld.now(); n.Calls != 0 {
		t.Errorf("%+v", n)
	}
}
