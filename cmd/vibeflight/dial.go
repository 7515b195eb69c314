package main

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
)

// serverConfig says which server is asked, and whom to trust there.
type serverConfig struct {
	address    string // empty: the files of this machine
	ca         string // file, PEM, of certificates to trust; empty: those of the system
	unverified bool   // take any certificate
}

func (c *serverConfig) flags(f *pflag.FlagSet) {
	f.StringVar(&c.address, "server", "", "ask a server at this `address`, grpc://HOST:PORT, grpc+tls://HOST:PORT "+
		"or unix:///PATH, instead of reading files")
	f.StringVar(&c.ca, "tls-ca", "", "`file`, PEM, of the certificates to trust at grpc+tls://, instead of the system's")
	f.BoolVar(&c.unverified, "tls-insecure", false,
		"take any certificate at grpc+tls://: whoever is in between can read and answer")
}

// check refuses flags that say nothing about the server. The environment may say it: that is for
// other calls.
func (c *serverConfig) check(f *pflag.FlagSet) error {
	_, encrypted, err := c.target()
	if err == nil && !encrypted && (told(f, "tls-ca") || told(f, "tls-insecure")) {
		return wrongUsage("--tls-ca and --tls-insecure: are for grpc+tls://HOST:PORT, and the server is %q", c.address)
	}
	return err
}

// dial prepares a connection; the first call makes it.
func (c *serverConfig) dial() (*remote, error) {
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
	conn, err := grpc.NewClient(where, grpc.WithTransportCredentials(creds),
		// The server bounds its messages itself; the default of 4 MiB is less than one of its
		// batches.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, wrongUsage("--server: %q: %w", c.address, err)
	}
	return &remote{address: c.address, client: flight.NewClientFromConn(conn, nil)}, nil
}

// target is the address as gRPC wants it.
func (c *serverConfig) target() (where string, encrypted bool, err error) {
	scheme, rest, ok := strings.Cut(c.address, "://")
	switch {
	case !ok:
		return c.address, false, nil
	case scheme == "grpc" || scheme == "grpc+tcp":
		return rest, false, nil
	case scheme == "unix" || scheme == "grpc+unix":
		return "unix:" + rest, false, nil
	case scheme == "grpc+tls" || scheme == "grpcs":
		return rest, true, nil
	}
	return "", false, wrongUsage("--server: %q is none of grpc://HOST:PORT, grpc+tls://HOST:PORT, unix:///PATH",
		c.address)
}

func (c *serverConfig) credentials() (credentials.TransportCredentials, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case c.unverified && c.ca != "":
		return nil, wrongUsage("want one of --tls-ca and --tls-insecure")
	case c.unverified:
		config.InsecureSkipVerify = true // that is what was asked for
	case c.ca != "":
		text, err := os.ReadFile(c.ca)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--tls-ca: %s: has no certificate in PEM", c.ca)
		}
	}
	return credentials.NewTLS(config), nil
}
