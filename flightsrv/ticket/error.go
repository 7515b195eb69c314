package ticket

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
)

// Error is a mistake in a ticket, a command, a criterion or the body of an action. Field is empty
// if the text as a whole is invalid.
type Error struct {
	Field string
	Err   error
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("field %s: %v", strconv.Quote(excerpt.Clip(e.Field, 100)), e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// inField names the field unless err names one below it.
func inField(key string, err error) error {
	var at *Error
	if errors.As(err, &at) {
		return err
	}
	return &Error{Field: key, Err: err}
}
