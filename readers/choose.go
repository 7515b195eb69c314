package readers

import (
	"fmt"
	"maps"
	"strings"
)

// OptionFormat is the option that names the format of a file, whatever its name and its bytes say.
// It is no option of a Format: Choose takes it out.
const OptionFormat = "format"

// FormatNamed is the name of the format that options give, or "".
func FormatNamed(options map[string]any) string {
	name, _ := options[OptionFormat].(string)
	return name
}

// Choose gives the format of a file that was taken for one of f: the one that the options name,
// else f. The other options are those for it. A name of no format is an *OptionError.
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

// noFormat is the error for the name of no format.
func (r Registry) noFormat(value any) error {
	names := make([]string, len(r))
	for i, f := range r {
		names[i] = f.Name
	}
	return &OptionError{OptionFormat, fmt.Errorf("%q is none of %s", fmt.Sprint(value), strings.Join(names, ", "))}
}
