package wire

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// raw is the codec of a test's messages: the server's are lent, a client's are bytes.
type raw struct{}

type message struct {
	over    *Conn
	parts   [][]byte
	release func()
}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*message); ok {
		return m.over.Lend([]byte("head"), m.parts, m.release), nil
	}
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// spied has all that is sent looked at.
type spyConn struct {
	credentials.TransportCredentials
	look func([]byte)
}

func (s spyConn) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := s.TransportCredentials.ServerHandshake(conn)
	if c, ok := conn.(*Conn); ok {
		send := c.send
		c.send = func(b *net.Buffers) error {
			for _, p := range *b {
				s.look(p)
			}
			return send(b)
		}
	}
	return conn, info, err
}

// TestGRPC sends lent messages from a server of gRPC to its client: as they are, without a copy,
// and released at the end. It fails if gRPC no longer writes as Conn expects, which would only be
// slower.
func TestGRPC(t *testing.T) {
	body := make([]byte, 3<<20+5)
	for i := range body {
		body[i] = byte(i * i >> 7)
	}
	const messages = 20
	var released, inPlace atomic.Int64
	look := func(p []byte) {
		// What follows p, up to the end of what p is a slice of, tells where in body it
		// begins.
		if at := len(body) - cap(p); at >= 0 && &body[at] == &p[0] {
			inPlace.Add(int64(len(p)))
		}
	}
	handle := func(_ any, stream grpc.ServerStream) error {
		for range messages {
			m := &message{Of(stream.Context()), [][]byte{[]byte("small"), body}, func() { released.Add(1) }}
			if err := stream.SendMsg(m); err != nil {
				return err
			}
		}
		return nil
	}
	s := grpc.NewServer(grpc.Creds(spyConn{Credentials(insecure.NewCredentials(), nil, nil), look}),
		grpc.WriteBufferSize(0), grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(handle))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	defer s.Stop()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/wire/Get")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(&[]byte{}); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	want := append([]byte("headsmall"), body...)
	for i := range messages {
		var got []byte
		if err := stream.RecvMsg(&got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("message %d: %d bytes, %v", i, len(got), err)
		}
	}
	s.GracefulStop()
	if n := released.Load(); n != messages {
		t.Errorf("%d of %d messages are released", n, messages)
	}
	if n := inPlace.Load(); n != messages*int64(len(body)) {
		t.Errorf("%d of %d bytes were sent from where they lie", n, messages*len(body))
	}
}
