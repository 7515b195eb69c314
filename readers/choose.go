package readers

import (
	"fmt"
	"maps"
	"strings"
)

// OptionFormat is the option that overrides the format that a file's name and bytes indicate. It is
// not an option of a Format: Choose removes it.
const OptionFormat = "format"

// FormatNamed returns the name of the format in the options, or "".
func FormatNamed(options map[string]any) string {
	name, _ := options[OptionFormat].(string)
	return name
}

// Choose returns the format that the options name, or f if they name none, and the other options.
// An unknown name gives an *OptionError.
func (r Registry) Choose(f Format, options map[string]any) (Format, map[string]any, error) {
	value, given := options[OptionFormat]
	if !given {
		return f, options, nil
	}
	rest := maps.Clone(options)
	delete(rest, OptionFormat)
	name, _ := value.(string)
	if named, ok := r.ByName(name); ok {
		return named, rest, nil
	}
	return Format{}, nil, r.noFormat(value)
}

// noFormat returns the error for an unknown format.
func (r Registry) noFormat(value any) error {
	names := make([]string, len(r))
	for i, f := range r {
		names[i] = f.Name
	}
	return &OptionError{OptionFormat, fmt.Errorf("%q is none of %s", fmt.Sprint(value), strings.Join(names, ", "))}
}
