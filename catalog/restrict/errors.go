package restrict

import (
	"errors"
	"fmt"
)

// Error is the error of a table whose rules can't be applied. The client does not get the table,
// and learns no more than that. The reason is for the operator's log.
type Error struct {
	Name   string // of the entry
	Reason error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: the rules for this table can't be applied; the server's log has the reason", e.Name)
}

// OptionsError is the error of a client that sets the options of a restricted table. Other options
// may give columns other names, which the rules do not know.
type OptionsError struct{ Name string }

func (e *OptionsError) Error() string {
	return fmt.Sprintf("%s: its options are the operator's: rows or columns of it are restricted", e.Name)
}

// ErrUnreadable is the error of a restricted table whose file can't be read. Places and texts in the
// file are not the client's to know.
var ErrUnreadable = errors.New("the file of this table can't be read; the server's log has the reason")
