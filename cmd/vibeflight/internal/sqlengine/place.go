package sqlengine

import (
	"errors"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// placedError is an error with its place in the query.
type placedError struct {
	error
	at int
}

// Place returns the byte of the query.
func (e placedError) Place() int { return e.at }

func (e placedError) Unwrap() error { return e.error }

// placed adds the place in the query to an error, if DuckDB told it.
func placed(err error) error {
	var q *engine.Error
	if errors.As(err, &q) && q.Position >= 0 {
		return placedError{err, q.Position}
	}
	return err
}
