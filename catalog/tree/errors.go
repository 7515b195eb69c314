package tree

import (
	"fmt"
	"io/fs"
	"strings"
)

// NotFoundError says that the catalog has no entry of a name. It is an fs.ErrNotExist.
type NotFoundError struct {
	Name    string
	Closest []string // up to 3 names of entries, closest first
	Err     error    // why the file of a root that is not listed is no entry; nil: not known
}

// Error is `no entry "floridda.geojson"; the closest are "florida.geojson"`.
func (e *NotFoundError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("no entry %q: %v", e.Name, e.Err)
	}
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
