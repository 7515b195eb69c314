package flightsrv

import (
	"crypto/tls"
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

// keyPair is a certificate with its key, in two PEM files. Each handshake checks the files and
// reads them again if they have changed, so that a renewed certificate needs no restart. While the
// new files can't be read, as between the writes of the two, the old pair is served.
type keyPair struct {
	certFile, keyFile string
	log               zerolog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	stamps [2]fileStamp // of the files when they were last read
}

// fileStamp changes if a file is replaced or written to.
type fileStamp struct {
	size     int64
	modified time.Time
}

// newKeyPair reads the files. It returns nil if both names are empty, and an error if only one is.
func newKeyPair(certFile, keyFile string, log zerolog.Logger) (*keyPair, error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil //nolint:nilnil // no TLS
	case keyFile == "":
		return nil, errors.New("--tls-cert: --tls-key is missing: the file of the certificate's key")
	case certFile == "":
		return nil, errors.New("--tls-key: --tls-cert is missing: the file of the key's certificate")
	}
	k := &keyPair{certFile: certFile, keyFile: keyFile, log: log}
	if err := k.read(k.readStamps()); err != nil {
		return nil, err
	}
	return k, nil
}

// get is tls.Config.GetCertificate.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
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
	return k.pair, nil
}

func (k *keyPair) read(now [2]fileStamp) error {
	k.stamps = now
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", k.certFile, k.keyFile, err)
	}
	k.pair = &pair
	return nil
}

// readStamps returns the current stamps of the files; zero for a missing file.
func (k *keyPair) readStamps() (now [2]fileStamp) {
	for i, name := range []string{k.certFile, k.keyFile} {
		if info, err := os.Stat(name); err == nil {
			now[i] = fileStamp{info.Size(), info.ModTime()}
		}
	}
	return now
}

// credentials are TLS 1.2 or later, with HTTP/2 by ALPN, on TCP. A unix socket has no TLS: only the
// server's user can connect to it.
func (k *keyPair) credentials() credentials.TransportCredentials {
	return tcpCredentials{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.get})}
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
