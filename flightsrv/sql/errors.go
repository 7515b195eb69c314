package sql

import "fmt"

// RequestError says what is wrong with a command, a ticket, an action or its parameters.
type RequestError struct {
	What string
	Err  error // why, where another package knows; may be nil
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

// UnsupportedError says what this server does not have.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What }

// HandleError says that a handle stands for nothing, or for nothing any more.
type HandleError struct {
	Of   string // "prepared statement", "result", "session", "poll"
	Lost bool   // its client held more than its share, and others needed the room
}

func (e *HandleError) Error() string {
	if e.Lost {
		return fmt.Sprintf("%s: the handle was given up: its client held more of them than its share of what this "+
			"server keeps, and this was its oldest", e.Of)
	}
	return fmt.Sprintf("%s: the handle is unknown: it was closed, it expired, its rows were fetched, or another "+
		"server gave it", e.Of)
}

// LimitError says that a client, or all of them, have more open than the server keeps.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return e.What }

// StaleError says that what was prepared does not fit any more.
type StaleError struct{ What string }

func (e *StaleError) Error() string { return e.What }
