package httpcall

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// Error is the error of a call for its client.
type Error struct {
	Status int    // of HTTP
	Code   string // as gRPC spells it: "NOT_FOUND"
	Detail string // what is wrong, without paths of the server's file system
	Err    error  // nil: Detail has all of it
	// of a malformed file; nil: none, or not for the client
	Position *readers.ParseError
}

func (e *Error) Error() string { return e.Detail }

func (e *Error) Unwrap() error { return e.Err }

// LinesError is the error of a malformed file with the lines around the position.
type LinesError struct {
	Err   error
	Lines []catalog.Line
}

func (e *LinesError) Error() string { return e.Err.Error() }

func (e *LinesError) Unwrap() error { return e.Err }

// BadRequest is the error of a request that can't be understood.
func BadRequest(detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Detail: detail}
}

// Problem is the body of an answer that is an error (RFC 9457). The position is that of a malformed
// file.
type Problem struct {
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Code    string `json:"code"` // as gRPC spells it
	Detail  string `json:"detail"`
	Byte    *int64 `json:"byte,omitempty"`    // in the file, from 0
	Line    *int64 `json:"line,omitempty"`    // in the file, from 1
	Feature *int64 `json:"feature,omitempty"` // from 0
	Field   string `json:"field,omitempty"`   // "geometry" or the attribute
	// the lines of the file around the position
	Lines []catalog.Line `json:"lines,omitempty"`
}

// ProblemOf describes an error.
func ProblemOf(err error) Problem {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Status: http.StatusInternalServerError, Code: "INTERNAL", Detail: "a defect of the server"}
	}
	p := Problem{Title: http.StatusText(e.Status), Status: e.Status, Code: e.Code, Detail: e.Detail}
	if p.Title == "" {
		p.Title = e.Code
	}
	var lines *LinesError
	if errors.As(e.Err, &lines) {
		p.Lines = lines.Lines
	}
	if at := e.Position; at != nil {
		p.Byte, p.Field = &at.Offset, at.Field
		if at.Line > 0 {
			p.Line = &at.Line
		}
		if at.Row >= 0 {
			p.Feature = &at.Row
		}
	}
	return p
}

// WriteProblem answers a request with an error.
func WriteProblem(w http.ResponseWriter, err error) {
	p := ProblemOf(err)
	h := w.Header()
	for _, name := range []string{"Etag", "Content-Encoding", "Content-Disposition", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case http.StatusUnauthorized:
		// No challenge of Basic: browsers would ask for a password by themselves.
		h.Set("WWW-Authenticate", `Bearer realm="vibeflight"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may have left
}
