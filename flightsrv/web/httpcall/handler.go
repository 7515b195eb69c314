package httpcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Func answers a request. It returns an error instead of writing it.
type Func func(ctx context.Context, w *Writer, r *http.Request, c Call) error

// Handler runs a function as the call that describe names. An error after the first byte of the
// body ends the connection, so that the client notices that the body is incomplete.
func Handler(s Server, describe func(*http.Request) (Request, error), answer Func) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about, err := describe(r)
		if err != nil {
			WriteProblem(w, err)
			return
		}
		out := &Writer{ResponseWriter: w, control: http.NewResponseController(w)}
		// Else the end of http.Server.ReadTimeout would end the answer.
		if r.Body == nil || r.Body == http.NoBody {
			out.bodyRead()
		} else {
			r.Body = &requestBody{ReadCloser: r.Body, read: out.bodyRead}
		}
		err = s.Run(Context(r), about, func(ctx context.Context, c Call) error {
			// A write to a client that does not read ends with the call.
			defer context.AfterFunc(ctx, func() { _ = out.control.SetWriteDeadline(time.Unix(1, 0)) })()
			out.ctx, out.call = ctx, c
			return answer(ctx, out, r, c)
		})
		switch {
		case err == nil:
		case out.begun:
			panic(http.ErrAbortHandler)
		default:
			// The deadline that the end of the call has set would close the connection without an answer, and
			// browsers repeat a request then.
			_ = out.control.SetWriteDeadline(time.Now().Add(stalled))
			WriteProblem(w, err)
		}
	})
}

// requestBody calls read at the end of a body.
type requestBody struct {
	io.ReadCloser
	read func()
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.read()
	}
	return n, err
}

// Named describes requests that concern no entry.
func Named(method string) func(*http.Request) (Request, error) {
	return func(*http.Request) (Request, error) { return Request{Method: method}, nil }
}

// statusClientClosed is the status of a request whose client has left. Only logs have it.
const statusClientClosed = 499

// A client that does not take maxPiece bytes in the time stalled is cut off.
const (
	stalled  = 5 * time.Minute
	maxPiece = 1 << 20
)

// Writer writes the body of an answer within the limits of the caller.
type Writer struct {
	http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context
	call    Call
	begun   bool // the header is written
}

// bodyRead lets the answer take longer than the request may.
func (w *Writer) bodyRead() { _ = w.control.SetReadDeadline(time.Time{}) }

// WriteHeader writes the header.
func (w *Writer) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body when the caller may be sent it.
func (w *Writer) Write(b []byte) (n int, err error) {
	w.begun = true
	for {
		piece := b[n:min(len(b), n+maxPiece)]
		if err := w.call.Send(w.ctx, len(piece)); err != nil {
			return n, err
		}
		if err := w.extend(); err != nil {
			return n, err
		}
		m, err := w.ResponseWriter.Write(piece)
		n += m
		if err != nil {
			return n, clientLeft(err)
		}
		if n == len(b) {
			return n, nil
		}
	}
}

// Flush sends what was written to the client.
func (w *Writer) Flush() error {
	w.begun = true
	if err := w.extend(); err != nil {
		return err
	}
	if err := w.control.Flush(); err != nil {
		return clientLeft(err)
	}
	return nil
}

// extend gives the client time for the next piece.
func (w *Writer) extend() error {
	err := w.control.SetWriteDeadline(time.Now().Add(stalled))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if w.ctx.Err() != nil { // the deadline of the end was replaced
		return context.Cause(w.ctx)
	}
	return nil
}

func clientLeft(err error) error {
	return &Error{Status: statusClientClosed, Code: "CANCELLED", Detail: "the client has left", Err: err}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
