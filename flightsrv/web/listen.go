package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// DefaultAddress is the address of --http without a value.
const DefaultAddress = "127.0.0.1:8080"

// Listener answers HTTP requests at an address.
type Listener struct {
	server   http.Server
	listener net.Listener
	handler  atomic.Pointer[http.Handler]
	tls      bool
	done     chan struct{} // closed when the server has ended
}

// Protection is what protects a listener from others.
type Protection struct {
	TLS      *tls.Config // nil: none
	Login    bool        // callers have to log in
	Insecure bool        // listen on any address without TLS and login (--insecure)
}

// Listen listens on host:port and answers with first until Handle and Close. It refuses an address
// that other hosts can reach without TLS and a login, unless Insecure is set.
func Listen(address string, p Protection, first http.Handler, errs zerolog.Logger) (*Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !p.Insecure && !at.IP.IsLoopback() && (p.TLS == nil || !p.Login) {
		return nil, errors.New("others can reach this address: configure TLS (--tls-cert, --tls-key) and a login " +
			"(--users, --tokens, --oidc-issuer or --tls-client-ca), listen on 127.0.0.1 or [::1], or say --insecure " +
			"to serve everyone")
	}
	on, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, err
	}
	l := &Listener{listener: on, tls: p.TLS != nil, done: make(chan struct{})}
	l.Handle(first)
	current := func(w http.ResponseWriter, r *http.Request) { (*l.handler.Load()).ServeHTTP(w, r) }
	l.server = http.Server{
		Handler:           http.HandlerFunc(current),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, TLSConfig: p.TLS, ErrorLog: log.New(errorWriter{errs}, "", 0),
	}
	go func() {
		defer close(l.done)
		if p.TLS != nil {
			_ = l.server.ServeTLS(on, "", "") // it ends with Close
			return
		}
		_ = l.server.Serve(on)
	}()
	return l, nil
}

// errorWriter logs what net/http writes of connections, such as failed handshakes.
type errorWriter struct{ log zerolog.Logger }

func (w errorWriter) Write(b []byte) (int, error) {
	w.log.Debug().Msgf("http: %s", b)
	return len(b), nil
}

// Handle answers later requests with h.
func (l *Listener) Handle(h http.Handler) { l.handler.Store(&h) }

// URL returns the address with its scheme, and with the port that the system chose for port 0.
func (l *Listener) URL() string {
	scheme := "http"
	if l.tls {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s", scheme, l.listener.Addr())
}

// Loopback reports whether only programs of this machine can connect.
func (l *Listener) Loopback() bool {
	at, ok := l.listener.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// Close ends the listener after the requests in progress, at most until ctx ends.
func (l *Listener) Close(ctx context.Context) error {
	err := l.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, l.server.Close())
	}
	<-l.done
	return err
}
