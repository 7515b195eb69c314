package flightsrv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
)

// pair is a certificate and its key in two files.
type pair struct{ cert, key string }

func newPair(t testing.TB) pair {
	t.Helper()
	dir := t.TempDir()
	return pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// write makes a certificate for 127.0.0.1 with this serial number, signed by itself, and gives a
// pool that holds it.
func (p pair) write(t testing.TB, serial int64) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	want := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, want, want, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]pem.Block{
		p.cert: {Type: "CERTIFICATE", Bytes: cert},
		p.key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(&block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	return pool
}

func dialTLS(t testing.TB, addr string, config *tls.Config) flight.Client {
	t.Helper()
	c, err := flight.NewClientWithMiddleware(addr, nil, nil, grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A server with a certificate and two listeners: TCP is encrypted, the socket is not.
func TestTLS(t *testing.T) {
	p := newPair(t)
	pool := p.write(t, 1)
	socket := "unix://" + filepath.Join(t.TempDir(), "s")
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) {
		c.TLSCert, c.TLSKey, c.Listen = p.cert, p.key, []string{socket, "127.0.0.1:0"}
	})
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 { // by the socket
		t.Errorf("over the socket: %v", err)
	}
	addr := f.server.Addrs()[1]
	for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		f.client = dialTLS(t, addr, &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version})
		if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := dial(t, addr)
	defer plain.Close()
	for words, client := range map[string]flight.Client{
		"protocol version not supported": dialTLS(t, addr, &tls.Config{
			RootCAs: pool, MaxVersion: tls.VersionTLS11,
			MinVersion: tls.VersionTLS11,
		}),
		"server preface":    plain,
		"unknown authority": dialTLS(t, addr, &tls.Config{RootCAs: x509.NewCertPool()}),
	} {
		_, err := client.GetFlightInfo(t.Context(), pathOf("a.fake"))
		wantStatus(t, err, codes.Unavailable, words)
	}
}

// A certificate that is written anew holds from the next connection on; one that is half written
// changes nothing.
func TestCertificateIsReadAgain(t *testing.T) {
	p := newPair(t)
	pool := p.write(t, 1)
	log := &syncBuffer{}
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) {
		c.TLSCert, c.TLSKey = p.cert, p.key
		c.Log = c.Log.Output(log)
	})
	serial := func(pool *x509.CertPool) int64 {
		t.Helper()
		conn, err := tls.Dial("tcp", f.addr, &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(pool); got != 1 {
		t.Errorf("serial number %d, want 1", got)
	}
	text, err := os.ReadFile(p.cert)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.cert, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(pool); got != 1 {
		t.Errorf("half a file: serial number %d, want 1", got)
	}
	pool = p.write(t, 2)
	if got := serial(pool); got != 2 {
		t.Errorf("serial number %d, want 2", got)
	}
}

func TestKeyPairErrors(t *testing.T) {
	p, other := newPair(t), newPair(t)
	p.write(t, 1)
	other.write(t, 2)
	c := emptyCatalog(t)
	for _, test := range []struct {
		name      string
		cert, key string
		words     string
	}{
		{"no key", p.cert, "", "--tls-key is missing"},
		{"no certificate", "", p.key, "--tls-cert is missing"},
		{"no file", p.cert + "x", p.key, "no such file"},
		{"another's key", p.cert, other.key, "does not match"},
		{"the wrong way round", p.key, p.cert, "--tls-cert"},
	} {
		s, err := New(Config{Catalog: c, Listen: []string{"127.0.0.1:0"}, TLSCert: test.cert, TLSKey: test.key})
		if err == nil {
			closed(t, s)
			t.Errorf("%s: no error", test.name)
		} else if !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v does not hold %q", test.name, err, test.words)
		}
	}
	// Encryption is no login.
	if s, err := New(Config{Catalog: c, Listen: []string{"0.0.0.0:0"}, TLSCert: p.cert, TLSKey: p.key}); err == nil {
		closed(t, s)
		t.Error("everyone is served without --insecure")
	} else if !strings.Contains(err.Error(), "TLS, but no login") || !strings.Contains(err.Error(), "--insecure") {
		t.Error(err)
	}
}
