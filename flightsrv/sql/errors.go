package sql

import "fmt"

// RequestError is an invalid command, ticket, action or parameter.
type RequestError struct {
	What string
	Err  error // the cause, if another package reports it; may be nil
}

func (e *RequestError) Error() string {
	if e.Err == nil {
		return e.What
	}
	return fmt.Sprintf("%s: %v", e.What, e.Err)
}

func (e *RequestError) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return &RequestError{What: fmt.Sprintf(format, args...)}
}

// UnsupportedError names a feature that this server does not have.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What }

// HandleError is the error of a handle that is unknown or no longer valid.
type HandleError struct {
	Kind    string // "prepared statement", "result", "session", "poll"
	Evicted bool   // its client held more than its share, and others needed the room
}

func (e *HandleError) Error() string {
	if e.Evicted {
		return fmt.Sprintf("%s: the handle was given up: its client held more of them than its share of what this "+
			"server keeps, and this was its oldest", e.Kind)
	}
	return fmt.Sprintf("%s: the handle is unknown: it was closed, it expired, its rows were fetched, or another "+
		"server gave it", e.Kind)
}

// LimitError is the error of a client, or of all together, that have more open than the server
// allows.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return e.What }

// StaleError is the error of a prepared statement that no longer fits its tables.
type StaleError struct{ What string }

func (e *StaleError) Error() string { return e.What }
