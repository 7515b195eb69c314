package wire

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"testing"
	"time"
)

// countingConn counts the writes to a socket.
type countingConn struct {
	net.Conn
	writes int
}

func (c *countingConn) Write(b []byte) (int, error) {
	c.writes++
	return c.Conn.Write(b)
}

// TestRecords sends parts of all sizes over TLS, and counts the system calls.
func TestRecords(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pair := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan []byte)
	go func() {
		defer close(got)
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return
		}
		defer c.Close()
		b, _ := io.ReadAll(tls.Client(c, &tls.Config{
			InsecureSkipVerify: true,
		})) //nolint:gosec // a test's own certificate
		got <- b
	}()
	raw, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	socket := &countingConn{Conn: raw}
	r := &records{socket: newSocket(socket, nil), rooms: newRooms()}
	secure := tls.Server(r, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	var want []byte
	before := socket.writes
	for _, sizes := range [][]int{
		{9, 5, 300_000, 9, 20_000, 1},
		{17},
		{16384},
		{9, 16384, 9, 16384},
		{5 << 20, 3, 1 << 20},
		{0, 16383, 2, 16383, 0},
	} {
		var parts [][]byte
		for i, n := range sizes {
			p := bytes.Repeat([]byte{byte(len(want) + i)}, n)
			parts, want = append(parts, p), append(want, p...)
		}
		if err := r.send(secure, parts); err != nil {
			t.Fatal(err)
		}
	}
	if n := socket.writes - before; n > 6+len(want)/cipherBytes {
		t.Errorf("%d writes for %d bytes", n, len(want))
	}
	if err := secure.Close(); err != nil {
		t.Fatal(err)
	}
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("%d bytes are not the %d that were sent", len(b), len(want))
	}
}
