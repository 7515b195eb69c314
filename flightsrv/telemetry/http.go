package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// HTTP returns the handler of /metrics, /healthz and /readyz.
func (t *Telemetry) HTTP() http.Handler {
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
