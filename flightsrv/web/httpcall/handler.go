package httpcall

import (
	"context"
	"net/http"
	"time"
)

// Func answers a request. It returns an error instead of writing it.
type Func func(ctx context.Context, w *Writer, r *http.Request, c Call) error

// Handler runs a function as the call that describe names.
func Handler(s Server, describe func(*http.Request) (Request, error), answer Func) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about, err := describe(r)
		if err != nil {
			WriteProblem(w, err)
			return
		}
		out := &Writer{ResponseWriter: w, control: http.NewResponseController(w)}
		err = s.Run(Context(r), about, func(ctx context.Context, c Call) error {
			// A write to a client that does not read ends with the call.
			defer context.AfterFunc(ctx, func() { _ = out.control.SetWriteDeadline(time.Unix(1, 0)) })()
			out.ctx, out.call = ctx, c
			return answer(ctx, out, r, c)
		})
		switch {
		case err == nil:
		case out.begun: // the client must notice that the body is incomplete
			panic(http.ErrAbortHandler)
		default:
			// The deadline that the end of the call has set would close the connection without an answer, and
			// browsers repeat a request then.
			_ = out.control.SetWriteDeadline(time.Now().Add(stalled))
			WriteProblem(w, err)
		}
	})
}

// Named describes requests that concern no entry.
func Named(method string) func(*http.Request) (Request, error) {
	return func(*http.Request) (Request, error) { return Request{Method: method}, nil }
}

// statusClientClosed is the status of a request whose client has left. Only logs have it.
const statusClientClosed = 499

// stalled is how long a write to a client that does not read may take.
const stalled = 5 * time.Minute

// Writer writes the body of an answer within the limits of the caller.
type Writer struct {
	http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context
	call    Call
	begun   bool // the header is written
}

// WriteHeader writes the header.
func (w *Writer) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body when the caller may be sent it.
func (w *Writer) Write(b []byte) (int, error) {
	w.begun = true
	if err := w.call.Send(w.ctx, len(b)); err != nil {
		return 0, err
	}
	if err := w.control.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return 0, err
	}
	if err := w.ctx.Err(); err != nil { // the deadline of the end was replaced
		return 0, context.Cause(w.ctx)
	}
	n, err := w.ResponseWriter.Write(b)
	if err != nil {
		return n, &Error{Status: statusClientClosed, Code: "CANCELLED", Detail: "the client has left", Err: err}
	}
	return n, nil
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
