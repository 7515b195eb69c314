package flightsrv

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// keyPair is a certificate with its key, in two PEM files, and the certificates that sign those of
// clients, in a third one. Each handshake checks the files and reads them again if they have
// changed, so that a renewed certificate needs no restart. While the new files can't be read, as
// between the writes of the two, the old pair is served.
type keyPair struct {
	certFile, keyFile string
	clientFile        string   // empty: none
	clientRequired    bool     // refuse clients without a certificate
	protocols         []string // by ALPN
	log               zerolog.Logger

	mu     sync.Mutex
	config *tls.Config          // with what was last read
	stamps [numStamps]fileStamp // of the files when they were last read
}

// numStamps is the number of files.
const numStamps = 3

// fileStamp changes if a file is replaced or written to.
type fileStamp struct {
	size     int64
	modified time.Time
}

// newKeyPair reads the files. It returns nil if both names are empty, and an error if only one is.
func newKeyPair(cfg *Config, protocols ...string) (*keyPair, error) {
	k := &keyPair{
		certFile: cfg.TLSCert, keyFile: cfg.TLSKey, clientFile: cfg.TLSClientCA, clientRequired: cfg.TLSClientRequired,
		log: cfg.Log, protocols: protocols,
	}
	switch {
	case k.clientFile == "" && k.clientRequired:
		return nil, errors.New("--tls-client-required: --tls-client-ca is missing")
	case k.certFile == "" && k.keyFile == "" && k.clientFile != "":
		return nil, errors.New("--tls-client-ca: --tls-cert and --tls-key are missing: certificates are part of TLS")
	case k.certFile == "" && k.keyFile == "":
		return nil, nil //nolint:nilnil // no TLS
	case k.keyFile == "":
		return nil, errors.New("--tls-cert: --tls-key is missing: the file of the certificate's key")
	case k.certFile == "":
		return nil, errors.New("--tls-key: --tls-cert is missing: the file of the key's certificate")
	}
	if err := k.read(k.readStamps()); err != nil {
		return nil, err
	}
	return k, nil
}

// get is tls.Config.GetConfigForClient. A session can't be resumed after the files have changed: its
// client certificate may be one that is not accepted any more.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Config, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.readStamps(); now != k.stamps {
		if err := k.read(now); err != nil {
			k.log.Warn().Err(err).Msg("the TLS certificate has changed and can't be read; the one that was read " +
				"before is still served")
		} else {
			k.log.Info().Str("file", k.certFile).Msg("the TLS certificate is read again")
		}
	}
	return k.config, nil
}

func (k *keyPair) read(now [numStamps]fileStamp) error {
	k.stamps = now
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", k.certFile, k.keyFile, err)
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: k.protocols, Certificates: []tls.Certificate{pair},
	}
	if k.clientFile != "" {
		text, err := os.ReadFile(k.clientFile)
		if err != nil {
			return fmt.Errorf("--tls-client-ca: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("--tls-client-ca %s: has no certificate in PEM", k.clientFile)
		}
		if k.clientRequired {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	k.config = config
	return nil
}

// readStamps returns the current stamps of the files; zero for a missing file.
func (k *keyPair) readStamps() (now [numStamps]fileStamp) {
	for i, name := range []string{k.certFile, k.keyFile, k.clientFile} {
		if info, err := os.Stat(name); err == nil {
			now[i] = fileStamp{info.Size(), info.ModTime()}
		}
	}
	return now
}

// credentials are TLS 1.2 or later, with HTTP/2 by ALPN, on TCP. A unix socket has no TLS: only the
// server's user can connect to it.
func (k *keyPair) credentials() credentials.TransportCredentials {
	return tcpCredentials{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: k.get})}
}

// HTTPConfig returns the configuration of TLS for HTTP with the files of cfg; nil without TLS.
func HTTPConfig(cfg *Config) (*tls.Config, error) {
	k, err := newKeyPair(cfg, "h2", "http/1.1")
	if k == nil || err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: k.protocols, GetConfigForClient: k.get,
		Certificates: k.config.Certificates, // net/http wants one
	}, nil
}

// tcpCredentials are credentials for all connections but unix sockets.
type tcpCredentials struct {
	credentials.TransportCredentials
}

func (c tcpCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if _, ok := conn.LocalAddr().(*net.UnixAddr); ok {
		return insecure.NewCredentials().ServerHandshake(conn)
	}
	return c.TransportCredentials.ServerHandshake(conn)
}

func (c tcpCredentials) Clone() credentials.TransportCredentials {
	return tcpCredentials{c.TransportCredentials.Clone()}
}
