package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// DefaultHTTP is the address of --http without a value.
const DefaultHTTP = "127.0.0.1:8080"

// HTTP is the HTTP listener: /metrics, /healthz and /readyz.
type HTTP struct {
	server   http.Server
	listener net.Listener
	done     chan struct{} // closed when the server has ended
}

// ListenHTTP listens on host:port and answers until Close. It refuses an address that other hosts
// can reach, unless insecure is set: there is neither TLS nor a login.
func ListenHTTP(address string, insecure bool, t *Telemetry) (*HTTP, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !insecure && !at.IP.IsLoopback() {
		return nil, errors.New("others can reach this address, and HTTP has neither TLS nor a login: listen on " +
			"127.0.0.1 or [::1], or say --insecure to serve everyone")
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, err
	}
	h := &HTTP{listener: l, done: make(chan struct{})}
	h.server = http.Server{
		Handler: t.mux(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	go func() {
		defer close(h.done)
		_ = h.server.Serve(l) // it ends with Close
	}()
	return h, nil
}

// Address returns host:port, with the port that the system chose for port 0.
func (h *HTTP) Address() string { return h.listener.Addr().String() }

// Close ends the listener after the requests in progress, at most until ctx ends.
func (h *HTTP) Close(ctx context.Context) error {
	err := h.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, h.server.Close())
	}
	<-h.done
	return err
}

// mux returns the handlers of all paths.
func (t *Telemetry) mux() *http.ServeMux {
	mux := http.NewServeMux()
	if metrics := t.Handler(); metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := t.Health.Reasons(); len(why) > 0 {
			answer(w, http.StatusServiceUnavailable, strings.Join(why, "\n"))
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	return mux
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, fmt.Sprintln(text)) // the client may have left
}
