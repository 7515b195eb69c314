package engine

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// ErrNoSQL is the error of Open in a build without DuckDB.
var ErrNoSQL = duck.ErrNoSQL

// ErrClosed is the error of a closed engine.
var ErrClosed = errors.New("the SQL engine is closed")

// Error is an error in a query, or of its run, by Kind.
type Error = duck.Error

// AmbiguousError is the error of a name that may mean several tables.
type AmbiguousError = tree.AmbiguousError

func isAmbiguous(err error) bool {
	var ambiguous *AmbiguousError
	return errors.As(err, &ambiguous)
}

// caseError is the error of two names that differ only in case, which are one to DuckDB.
func caseError(a, b mention) error {
	return &Error{
		Kind: duck.Name, Position: -1,
		Message: fmt.Sprintf("%q and %q differ in case alone, which is no difference to SQL: one query reads one "+
			"of them", a.name, b.name),
	}
}
