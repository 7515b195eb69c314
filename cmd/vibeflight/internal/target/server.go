package target

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// Server is the address of a server, the certificates to trust, and the login.
type Server struct {
	Address    string // empty: the files of this machine
	CA         string // file, PEM, of certificates to trust; empty: those of the system
	Unverified bool   // accept any certificate
	// files, PEM, of the client's certificate and its key; empty: none
	ClientCert, ClientKey string
	Login                 Login
}

// Define adds the flags to f.
func (c *Server) Define(f *pflag.FlagSet) {
	c.DefineAddress(f)
	c.Login.define(f)
}

// DefineAddress adds the flags to f, except those of the login.
func (c *Server) DefineAddress(f *pflag.FlagSet) {
	f.StringVar(&c.Address, "server", "", "use the server at this `address`, grpc://HOST:PORT, grpc+tls://HOST:PORT "+
		"or unix:///PATH, instead of reading files")
	f.StringVar(&c.CA, "tls-ca", "",
		"`file`, PEM, of the certificates to trust at grpc+tls://, instead of the system's")
	f.BoolVar(&c.Unverified, "tls-insecure", false,
		"accept any certificate at grpc+tls://: others on the way can read and answer")
	f.StringVar(&c.ClientCert, "tls-client-cert", "", "`file`, PEM, of a certificate that logs in at grpc+tls://")
	f.StringVar(&c.ClientKey, "tls-client-key", "", "`file`, PEM, of the key of --tls-client-cert")
}

// Check refuses TLS flags for a server without TLS. The environment may set them, for other calls.
func (c *Server) Check(f *pflag.FlagSet) error {
	_, encrypted, err := c.target()
	if err == nil && !encrypted {
		for _, name := range []string{"tls-ca", "tls-insecure", "tls-client-cert", "tls-client-key"} {
			if settings.Given(f, name) {
				return usage.Errorf("--%s: is for grpc+tls://HOST:PORT, and the server is %q", name, c.Address)
			}
		}
	}
	if err != nil {
		return err
	}
	return c.Login.check(f, c.Address != "")
}

// Dial prepares a connection; the first call makes it.
func (c *Server) Dial() (*Remote, error) {
	where, encrypted, err := c.target()
	if err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	if encrypted {
		if creds, err = c.credentials(); err != nil {
			return nil, err
		}
	}
	// The server bounds its messages itself; its batches exceed the default of 4 MiB.
	options := []grpc.CallOption{grpc.MaxCallRecvMsgSize(math.MaxInt32)}
	header, err := c.Login.credentials()
	if err != nil {
		return nil, err
	}
	if header != nil {
		options = append(options, grpc.PerRPCCredentials(header))
	}
	conn, err := grpc.NewClient(where, grpc.WithTransportCredentials(creds), grpc.WithDefaultCallOptions(options...))
	if err != nil {
		return nil, usage.Errorf("--server: %q: %w", c.Address, err)
	}
	return &Remote{address: c.Address, conn: conn, client: flight.NewClientFromConn(conn, nil)}, nil
}

// target returns the address in the form of gRPC.
func (c *Server) target() (where string, encrypted bool, err error) {
	scheme, rest, ok := strings.Cut(c.Address, "://")
	switch {
	case !ok:
		return c.Address, false, nil
	case scheme == "grpc" || scheme == "grpc+tcp":
		return rest, false, nil
	case scheme == "unix" || scheme == "grpc+unix":
		return "unix:" + rest, false, nil
	case scheme == "grpc+tls" || scheme == "grpcs":
		return rest, true, nil
	}
	return "", false, usage.Errorf("--server: %q is none of grpc://HOST:PORT, grpc+tls://HOST:PORT, unix:///PATH",
		c.Address)
}

func (c *Server) credentials() (credentials.TransportCredentials, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case c.Unverified && c.CA != "":
		return nil, usage.Errorf("want one of --tls-ca and --tls-insecure")
	case c.Unverified:
		config.InsecureSkipVerify = true // --tls-insecure
	case c.CA != "":
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--tls-ca: %s: has no certificate in PEM", c.CA)
		}
	}
	switch {
	case c.ClientCert != "" && c.ClientKey != "":
		pair, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("--tls-client-cert %s, --tls-client-key %s: %w", c.ClientCert, c.ClientKey, err)
		}
		config.Certificates = []tls.Certificate{pair}
	case c.ClientCert != "" || c.ClientKey != "":
		return nil, usage.Errorf("want both of --tls-client-cert and --tls-client-key")
	}
	return credentials.NewTLS(config), nil
}
