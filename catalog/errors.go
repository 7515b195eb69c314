package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// ErrClosed is what a closed catalog answers.
var ErrClosed = errors.New("the catalog is closed")

// NotFoundError says that the catalog has no entry of a name. It is an fs.ErrNotExist.
type NotFoundError struct {
	Name    string
	Closest []string // up to 3 names of entries, closest first
}

// Error is `no entry "floridda.geojson"; the closest are "florida.geojson"`.
func (e *NotFoundError) Error() string {
	switch len(e.Closest) {
	case 0:
		return fmt.Sprintf("no entry %q", e.Name)
	case 1:
		return fmt.Sprintf("no entry %q; the closest is %q", e.Name, e.Closest[0])
	}
	quoted := make([]string, len(e.Closest))
	for i, name := range e.Closest {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("no entry %q; the closest are %s", e.Name, strings.Join(quoted, ", "))
}

func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// ChangedError says that a file, or the operator's options for it, is no longer of the version that
// was asked for.
type ChangedError struct {
	Name       string
	Want, Have string // versions
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed: version %s was asked for, %s is there; ask for its FlightInfo again",
		e.Name, e.Want, e.Have)
}

// OtherCRSError says that a selection asks for a reference system that the table's coordinates are
// not in.
type OtherCRSError struct {
	Asked string
	CRS   geoarrow.CRS // of the table
}

func (e *OtherCRSError) Error() string {
	if e.CRS == (geoarrow.CRS{}) {
		return fmt.Sprintf("field \"crs\": %.100q: the table has no reference system", e.Asked)
	}
	return fmt.Sprintf("field \"crs\": %.100q is not the table's reference system, %.100s; reprojection is not "+
		"there yet, ST_Transform in SQL is", e.Asked, e.CRS)
}

// UnknownColumnError says that a selection asks for a column that the table does not have.
type UnknownColumnError struct {
	Column  string
	Nearest string // "" for a table without columns
}

func (e *UnknownColumnError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("no column %q: the table has none", e.Column)
	}
	return fmt.Sprintf("no column %q; the nearest is %q", e.Column, e.Nearest)
}
