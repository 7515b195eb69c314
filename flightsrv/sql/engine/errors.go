package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// ErrNoSQL is the error of Open in a build without DuckDB.
var ErrNoSQL = duck.ErrNoSQL

// ErrClosed is the error of a closed engine.
var ErrClosed = errors.New("the SQL engine is closed")

// Error is an error in a query, or of its run, by Kind.
type Error = duck.Error

// maxCandidates is how many tables an AmbiguousError lists.
const maxCandidates = 10

// AmbiguousError is the error of a name that may mean several tables.
type AmbiguousError struct {
	Name       string
	Candidates []string // names of the catalog, sorted, at most ten
	More       int      // how many there are in addition
}

func newAmbiguousError(name string, found []*Table) *AmbiguousError {
	e := &AmbiguousError{Name: name}
	for _, t := range found {
		e.Candidates = append(e.Candidates, t.Entry)
	}
	slices.Sort(e.Candidates)
	if e.More = len(found) - maxCandidates; e.More > 0 {
		e.Candidates = e.Candidates[:maxCandidates]
	}
	e.More = max(0, e.More)
	return e
}

// Error is `"roads" may mean "a/roads.csv" or "b/roads.csv": write the one that is meant, in
// quotes`.
func (e *AmbiguousError) Error() string {
	quoted := make([]string, len(e.Candidates))
	for i, name := range e.Candidates {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	text := strings.Join(quoted, " or ")
	if e.More > 0 {
		text += fmt.Sprintf(", or one of %d more", e.More)
	}
	return fmt.Sprintf("%q may mean %s: write the one that is meant, in quotes", e.Name, text)
}

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
