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

// keyPair is a certificate with its key, PEM in two files. They are looked at with each handshake
// and read again when they have changed, so that a renewed certificate needs no restart. While the
// new ones can't be read, as between the writing of the one and the other, the old pair serves.
type keyPair struct {
	certFile, keyFile string
	log               zerolog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	seen [2]stamp // of the files, when they were read last
}

// stamp tells that a file is another one, or was written to.
type stamp struct {
	size     int64
	modified time.Time
}

// newKeyPair reads the files. Both names are empty or none is; if both are it gives nil.
func newKeyPair(certFile, keyFile string, log zerolog.Logger) (*keyPair, error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil //nolint:nilnil // there is no TLS, and nothing wrong with that
	case keyFile == "":
		return nil, errors.New("--tls-cert: --tls-key is missing: the file of the certificate's key")
	case certFile == "":
		return nil, errors.New("--tls-key: --tls-cert is missing: the file of the key's certificate")
	}
	k := &keyPair{certFile: certFile, keyFile: keyFile, log: log}
	if err := k.read(k.stamps()); err != nil {
		return nil, err
	}
	return k, nil
}

// get is tls.Config.GetCertificate.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.stamps(); now != k.seen {
		if err := k.read(now); err != nil {
			k.log.Warn().Err(err).Msg("the TLS certificate has changed and can't be read; the one that was read " +
				"before is still served")
		} else {
			k.log.Info().Str("file", k.certFile).Msg("the TLS certificate is read again")
		}
	}
	return k.pair, nil
}

func (k *keyPair) read(now [2]stamp) error {
	k.seen = now
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", k.certFile, k.keyFile, err)
	}
	k.pair = &pair
	return nil
}

// stamps are those of the files as they are now; zero where there is none.
func (k *keyPair) stamps() (now [2]stamp) {
	for i, name := range []string{k.certFile, k.keyFile} {
		if info, err := os.Stat(name); err == nil {
			now[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return now
}

// credentials are TLS 1.2 or later with HTTP/2 by ALPN on TCP. A unix socket, which only the
// server's user can connect to, goes without.
func (k *keyPair) credentials() credentials.TransportCredentials {
	return overTCP{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.get})}
}

// overTCP is its credentials on connections that are no unix sockets.
type overTCP struct {
	credentials.TransportCredentials
}

func (c overTCP) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if _, ok := conn.LocalAddr().(*net.UnixAddr); ok {
		return insecure.NewCredentials().ServerHandshake(conn)
	}
	return c.TransportCredentials.ServerHandshake(conn)
}

func (c overTCP) Clone() credentials.TransportCredentials {
	return overTCP{c.TransportCredentials.Clone()}
}
