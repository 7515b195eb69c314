package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// ErrNoSQL is what Open gives in a build without cgo.
var ErrNoSQL = duck.ErrNoCgo

// ErrClosed is what a closed engine answers.
var ErrClosed = errors.New("the SQL engine is closed")

// Error is an error in a query, or of running it. Its Kind says which.
type Error = duck.Error

// maxCandidates is how many tables an AmbiguousError names.
const maxCandidates = 10

// AmbiguousError says that a name in a query may mean several tables.
type AmbiguousError struct {
	Name       string
	Candidates []string // the catalog's names, sorted, at most ten of them
	More       int      // how many there are beside those
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

// caseError says that a query uses two names that DuckDB takes for one.
func caseError(a, b mention) error {
	return &Error{
		Kind: duck.Name, Position: -1,
		Message: fmt.Sprintf("%q and %q differ in case alone, which is no difference to SQL: one query reads one "+
			"of them", a.name, b.name),
	}
}
