//go:build linux

package worker

import (
	"context"
	"errors"
	"io"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// failure is an error in a reply.
type failure struct {
	Detail *failureDetail `json:"failed,omitempty"`
}

type failureDetail struct {
	Message  string    `json:"message"`
	Kind     duck.Kind `json:"kind"`
	Position int       `json:"position"`
	Query    bool      `json:"query,omitempty"`  // it is a duck.Error
	End      bool      `json:"end,omitempty"`    // it is io.EOF
	Asked    bool      `json:"asked,omitempty"`  // it is the other side's own, which it knows
	Broken   bool      `json:"broken,omitempty"` // DuckDB does nothing more after it
}

// errAsked represents, in a worker, an error that the server returned to the worker.
var errAsked = errors.New("the server's own error")

// brokenError is an error after which DuckDB refuses everything.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

func failureOf(err error) failure {
	w := &failureDetail{Message: err.Error(), Position: -1}
	var e *duck.Error
	w.Broken = errors.As(err, new(brokenError))
	switch {
	case errors.Is(err, io.EOF):
		w.End = true
	case errors.Is(err, errAsked):
		w.Asked = true
	case errors.As(err, &e):
		w.Query, w.Kind, w.Message, w.Position = true, e.Kind, e.Message, e.Position
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		w.Query, w.Kind = true, duck.Interrupted
	}
	return failure{w}
}

// error returns the error of a reply, or nil.
func (f failure) error() error {
	switch w := f.Detail; {
	case w == nil:
		return nil
	case w.End:
		return io.EOF
	case w.Asked:
		return errAsked
	case w.Query:
		return &duck.Error{Kind: w.Kind, Message: w.Message, Position: w.Position}
	default:
		return errors.New(w.Message)
	}
}
