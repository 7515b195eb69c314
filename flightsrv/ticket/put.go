package ticket

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
)

// putModes are the values of the field "mode".
var putModes = []string{
	catalog.Create: "create", catalog.Replace: "replace", catalog.Append: "append",
	catalog.CreateAppend: "create_append",
}

// ParsePut reads the descriptor of a DoPut: the name of the entry as a path, or {"name": "…",
// "mode": "…"}.
func ParsePut(d *flight.FlightDescriptor) (name string, mode catalog.Mode, err error) {
	if d.GetType() == flight.DescriptorPATH {
		name = strings.Join(d.GetPath(), "/")
		err = checkSize([]byte(name))
	} else {
		text := putModes[catalog.Create]
		if err = readObject(d.GetCmd(), map[string]*string{"name": &name, "mode": &text}); err == nil {
			i := slices.Index(putModes, text)
			if i < 0 {
				return "", 0, fmt.Errorf("put: %w", &Error{Field: "mode", Err: fmt.Errorf("%q is none of %q",
					text, putModes)})
			}
			mode = catalog.Mode(i)
		}
	}
	if err == nil && name == "" {
		err = &Error{Field: "name", Err: errors.New("is missing: say what the table is to be called")}
	}
	if err != nil {
		return "", 0, fmt.Errorf("put: %w", err)
	}
	return name, mode, nil
}
