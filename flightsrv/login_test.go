package flightsrv

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"golang.org/x/crypto/bcrypt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/certs"
	"github.com/vibeflight/vibeflight/flightsrv/auth/login"
	"github.com/vibeflight/vibeflight/flightsrv/auth/tokens"
)

// userLine is the line of a user whose hash takes a millisecond.
func userLine(t testing.TB, name, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(h) + "\n"
}

// withLogin is a change of a Config: the user alice has the password secret. users is the file.
func withLogin(t testing.TB) (users string, change func(*Config)) {
	t.Helper()
	users = filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(userLine(t, "alice", "secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := login.Open(login.Config{Users: users, CertificateUser: certs.CommonName})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return users, func(c *Config) { c.Login = l }
}

// withTokens is [withLogin] with a file of API tokens, which has a token of alice.
func withTokens(t testing.TB) (token string, change func(*Config)) {
	t.Helper()
	dir := t.TempDir()
	users, file := filepath.Join(dir, "users"), filepath.Join(dir, "tokens")
	token, digest := tokens.New()
	line := fmt.Sprintf(`{"sha256":%q,"user":"alice","expires":%q}`, digest, time.Now().Add(24*time.Hour).Format(time.RFC3339))
	if err := errors.Join(
		os.WriteFile(users, []byte(userLine(t, "alice", "secret")), 0o600),
		os.WriteFile(file, []byte(line), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	l, err := login.Open(login.Config{Users: users, Tokens: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return token, func(c *Config) { c.Login = l }
}

func sending(ctx context.Context, authorization string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
}

// TestEveryCallNeedsALogin makes each call of Flight, and of reflection, without a credential.
func TestEveryCallNeedsALogin(t *testing.T) {
	_, change := withLogin(t)
	f := serve(t, map[string]string{"a.fake": "rows=3"}, change)
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reflected := "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	methods := []string{reflected}
	for _, m := range pb.FlightService_ServiceDesc.Methods {
		methods = append(methods, flightPrefix+m.MethodName)
	}
	for _, s := range pb.FlightService_ServiceDesc.Streams {
		methods = append(methods, flightPrefix+s.StreamName)
	}
	if len(methods) != 11 {
		t.Errorf("%d methods: %v", len(methods), methods)
	}
	for _, method := range methods {
		for _, credential := range []string{"", "Bearer x", "Bearer none", auth.Basic("alice", "guess"), "Basic"} {
			ctx := t.Context()
			if credential != "" {
				ctx = sending(ctx, credential)
			}
			stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
			if err == nil {
				if err = stream.SendMsg(&flight.FlightDescriptor{}); err == nil || errors.Is(err, io.EOF) {
					_ = stream.CloseSend()
					err = stream.RecvMsg(&flight.FlightInfo{})
				}
			}
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("%s with %q: %v", method, credential, err)
			}
		}
	}
	healthy, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || healthy.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", healthy, err)
	}
}

func TestHandshake(t *testing.T) {
	_, change := withLogin(t)
	f := serve(t, map[string]string{"a.fake": "rows=3"}, change)
	_, err := f.client.AuthenticateBasicToken(t.Context(), "alice", "guess")
	wantStatus(t, err, codes.Unauthenticated, "wrong user or password")
	ctx, err := f.client.AuthenticateBasicToken(t.Context(), "alice", "secret")
	if err != nil {
		t.Fatal(err)
	}
	for name, ctx := range map[string]context.Context{
		"session": ctx, "password": sending(t.Context(), auth.Basic("alice", "secret")),
		"no padding": sending(t.Context(), strings.TrimRight(auth.Basic("alice", "secret"), "=")),
	} {
		if info, err := f.client.GetFlightInfo(ctx, pathOf("a.fake")); err != nil || info.GetTotalRecords() != 3 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}

	// The token is in header and trailer, whatever the messages are.
	var session string
	for _, messages := range [][]*flight.HandshakeRequest{nil, {{}}, {{Payload: []byte("alice")}}} {
		stream, err := f.client.Handshake(sending(t.Context(), auth.Basic("alice", "secret")))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		header, err := stream.Header()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		values := append(header.Get("authorization"), stream.Trailer().Get("authorization")...)
		if len(values) != 2 || values[0] != values[1] || !strings.HasPrefix(values[0], "Bearer vfs_") {
			t.Errorf("%v: header and trailer %q", messages, values)
		}
		session = values[0]
	}
	stream, err := f.client.Handshake(sending(t.Context(), session))
	if err != nil {
		t.Fatal(err)
	}
	if header, err := stream.Header(); err != nil || header.Get("authorization")[0] != session {
		t.Errorf("a Handshake with a session: %v, %v", header, err)
	}

	// Flight's BasicAuth has the user in the payload, and the token in a header of its own.
	payload, err := proto.Marshal(&pb.BasicAuth{Username: "alice", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	old, err := f.client.Handshake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Send(&flight.HandshakeRequest{Payload: payload}); err != nil {
		t.Fatal(err)
	}
	answer, err := old.Recv()
	if err != nil {
		t.Fatal(err)
	}
	ctx = metadata.AppendToOutgoingContext(t.Context(), "auth-token-bin", string(answer.GetPayload()))
	if _, err := f.client.GetFlightInfo(ctx, pathOf("a.fake")); err != nil {
		t.Error(err)
	}
}

// TestRevocationEndsStreams removes a user while one of its clients reads slowly, one reads nothing,
// one sends nothing, and one waits for a parse.
func TestRevocationEndsStreams(t *testing.T) {
	users, change := withLogin(t)
	f := serve(t, map[string]string{"wide.fake": "rows=300 pad=1000000", "slow.fake": "fail=slow"}, change)
	ctx := sending(t.Context(), auth.Basic("alice", "secret"))
	mute, err := f.client.DoGet(ctx, &flight.Ticket{Ticket: []byte("wide.fake")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mute.Recv(); err != nil {
		t.Fatal(err)
	}
	silent, err := f.client.DoPut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := f.client.GetFlightInfo(ctx, pathOf("slow.fake"))
		waiting <- err
	}()
	eventually(t, "the calls are in progress", func() bool {
		return f.server.load.streams.Load() == 3 && f.catalog.Stats().Parsing == 1
	})
	began := time.Now()
	if err := os.WriteFile(users, []byte(userLine(t, "bob", "secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = silent.Recv()
	wantStatus(t, err, codes.Unauthenticated, "revoked")
	wantStatus(t, <-waiting, codes.Unauthenticated, "revoked")
	eventually(t, "the handlers have returned", func() bool { return f.server.load.streams.Load() == 0 })
	t.Logf("the calls ended after %v", time.Since(began))
	for err = nil; err == nil; {
		_, err = mute.Recv()
	}
	wantStatus(t, err, codes.Unauthenticated, "revoked")
}

func TestListenNeedsALogin(t *testing.T) {
	_, change := withLogin(t)
	cert, key := newCertificate(t, t.TempDir(), "server", nil, nil)
	for _, test := range []struct {
		name               string
		tls, login, unsafe bool
		words              string // "": no error
	}{
		{"nothing", false, false, false, "neither TLS"},
		{"TLS", true, false, false, "TLS, but no login"},
		{"login", false, true, false, "a login, but no TLS"},
		{"both", true, true, false, ""},
		{"insecure", false, false, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := Config{Catalog: emptyCatalog(t), Listen: []string{"0.0.0.0:0"}, Insecure: test.unsafe}
			if test.tls {
				cfg.TLSCert, cfg.TLSKey = cert, key
			}
			if test.login {
				change(&cfg)
			}
			s, err := New(cfg)
			if err == nil {
				closed(t, s)
			}
			if (err == nil) != (test.words == "") || err != nil && !strings.Contains(err.Error(), test.words) {
				t.Errorf("%v, want %q", err, test.words)
			}
		})
	}
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newCertificate writes a certificate for a name, and its key; both are signed by an authority, or
// by themselves. It sets self to the authority that the certificate may be.
func newCertificate(t testing.TB, dir, name string, by, self *authority) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: by == nil, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if by == nil {
		by = &authority{template, private}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, &private.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	if self != nil {
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		*self = authority{parsed, private}
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	var ca, other authority
	caFile, _ := newCertificate(t, dir, "ca", nil, &ca)
	newCertificate(t, dir, "other", nil, &other)
	cert, key := newCertificate(t, dir, "server", &ca, nil)
	for _, required := range []bool{false, true} {
		_, change := withLogin(t)
		f := serve(t, map[string]string{"a.fake": "rows=3"}, change, func(c *Config) {
			c.TLSCert, c.TLSKey, c.TLSClientCA, c.TLSClientRequired = cert, key, caFile, required
		})
		connect := func(certificate *tls.Certificate) flight.Client {
			config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
			config.RootCAs.AddCert(ca.cert)
			if certificate != nil {
				// Certificates would not be sent to a server that names other authorities.
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return certificate, nil
				}
			}
			c, err := flight.NewClientWithMiddleware(f.addr, nil, nil,
				grpc.WithTransportCredentials(credentials.NewTLS(config)))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		of := func(name string, by *authority) *tls.Certificate {
			pair, err := tls.LoadX509KeyPair(newCertificate(t, dir, name, by, nil))
			if err != nil {
				t.Fatal(err)
			}
			return &pair
		}
		alice := connect(of("alice", &ca))
		if info, err := alice.GetFlightInfo(t.Context(), pathOf("a.fake")); err != nil || info.GetTotalRecords() != 3 {
			t.Errorf("alice: %v, %v", info, err)
		}
		_, err := connect(of("bob", &ca)).GetFlightInfo(t.Context(), pathOf("a.fake"))
		wantStatus(t, err, codes.Unauthenticated, "may not log in")
		_, err = connect(of("alice", &other)).GetFlightInfo(t.Context(), pathOf("a.fake"))
		wantStatus(t, err, codes.Unavailable)
		_, err = connect(nil).GetFlightInfo(t.Context(), pathOf("a.fake"))
		if required {
			wantStatus(t, err, codes.Unavailable)
		} else {
			wantStatus(t, err, codes.Unauthenticated, "no credential")
		}

		// The session of a certificate is bound to it.
		stream, err := alice.Handshake(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		header, err := stream.Header()
		if err != nil || len(header.Get("authorization")) != 1 {
			t.Fatal(header, err)
		}
		session := sending(t.Context(), header.Get("authorization")[0])
		if _, err := alice.GetFlightInfo(session, pathOf("a.fake")); err != nil {
			t.Error(err)
		}
		_, err = connect(of("bob", &ca)).GetFlightInfo(session, pathOf("a.fake"))
		wantStatus(t, err, codes.Unauthenticated, "certificate")
	}
}
