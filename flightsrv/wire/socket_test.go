package wire

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// oneTurn gives turns to one write at a time.
type oneTurn struct {
	mu    sync.Mutex
	users sync.Map     // that had a turn
	ended atomic.Int64 // turns
}

func (o *oneTurn) enter(user string) (leave func()) {
	o.mu.Lock()
	o.users.Store(user, true)
	return func() {
		o.ended.Add(1)
		o.mu.Unlock()
	}
}

// connect returns both ends of a connection over network.
func connect(t *testing.T, network, address string) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return server, client
}

// partsOf cuts a copy of b into parts of n bytes, each after an empty one.
func partsOf(b []byte, n int) (parts net.Buffers) {
	for b = bytes.Clone(b); len(b) > 0; b = b[min(n, len(b)):] {
		parts = append(parts, nil, b[:min(n, len(b))])
	}
	return parts
}

// TestSocketTurns has a client that does not read. Its connection writes in turns that end, so that
// another connection of the same user writes meanwhile. When the client reads, it gets all bytes.
func TestSocketTurns(t *testing.T) {
	body := make([]byte, 32<<20) // more than the buffers of a socket
	for i := range body {
		body[i] = byte(i * i >> 7)
	}
	for _, c := range []struct{ network, address string }{
		{"tcp", "127.0.0.1:0"},
		{"unix", t.TempDir() + "/socket"},
	} {
		t.Run(c.network, func(t *testing.T) {
			var turns oneTurn
			server, unread := connect(t, c.network, c.address)
			slow := newSocket(server, turns.enter)
			slow.setUser("ann")
			wrote := make(chan error, 1)
			go func() { wrote <- slow.writeAll(partsOf(body, 10_000)) }()
			for deadline := time.Now().Add(20 * time.Second); turns.ended.Load() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the turn of a full socket does not end")
				}
			}

			server, reading := connect(t, c.network, c.address)
			fast := newSocket(server, turns.enter)
			fast.setUser("bob")
			go func() { wrote <- fast.writeAll(partsOf(body, 1<<20)) }()
			got := make([]byte, len(body))
			if _, err := io.ReadFull(reading, got); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%v, or other bytes", err)
			}
			if err := <-wrote; err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(unread, got); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%v, or other bytes", err)
			}
			if err := <-wrote; err != nil {
				t.Fatal(err)
			}
			for _, user := range []string{"ann", "bob"} {
				if _, ok := turns.users.Load(user); !ok {
					t.Errorf("%s had no turn", user)
				}
			}
		})
	}
}

// TestSmallWrites checks that small writes wait for nobody.
func TestSmallWrites(t *testing.T) {
	server, client := connect(t, "tcp", "127.0.0.1:0")
	s := newSocket(server, func(string) func() {
		t.Error("a small write waits for a turn")
		return func() {}
	})
	body := make([]byte, turnBytes-1)
	go func() { _ = s.writeAll(partsOf(body, 1000)) }()
	if _, err := io.ReadFull(client, make([]byte, len(body))); err != nil {
		t.Error(err)
	}
}

// TestSocketClosed closes a connection whose client does not read.
func TestSocketClosed(t *testing.T) {
	var turns oneTurn
	server, _ := connect(t, "tcp", "127.0.0.1:0")
	s := newSocket(server, turns.enter)
	wrote := make(chan error, 1)
	go func() { wrote <- s.writeAll(net.Buffers{make([]byte, 32<<20)}) }()
	for turns.ended.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-wrote; err == nil {
		t.Error("the write to a closed socket has no error")
	}
	turns.mu.Lock() // nobody holds it
}
