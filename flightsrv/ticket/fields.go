package ticket

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// crsNameOf reads the name of a reference system.
func crsNameOf(v json.RawMessage) (string, error) {
	name, err := textOf(v)
	if err != nil {
		return "", err
	}
	if _, ok := geoarrow.ParseCRS(name); !ok {
		return "", fmt.Errorf("%s names no reference system; want OGC:CRS84, EPSG:4326 or a like name", excerpt.Of(v))
	}
	return name, nil
}

// columnsOf reads names of columns.
func columnsOf(v json.RawMessage) ([]string, error) {
	a, err := arrayOf(v)
	if err != nil {
		return nil, err
	}
	if len(a) == 0 {
		return nil, errors.New("is empty; leave it out for all columns")
	}
	var names []string
	for _, e := range a {
		name, err := stringOf(e) // a column may well have the empty name: GeoJSON allows that key
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%s is given twice", excerpt.Of(e))
		}
		names = append(names, name)
	}
	return names, nil
}

// whereOf reads a predicate. Its grammar is the SQL engine's.
func whereOf(v json.RawMessage) (string, error) {
	predicate, err := textOf(v)
	if err == nil && strings.TrimSpace(predicate) == "" {
		return "", errors.New("is empty; leave it out for all rows")
	}
	return predicate, err
}

// bboxOf reads a bounding box: xmin, ymin, xmax, ymax.
func bboxOf(v json.RawMessage) (*[4]float64, error) {
	a, err := arrayOf(v)
	if err != nil {
		return nil, err
	}
	if len(a) != 4 {
		return nil, fmt.Errorf("want 4 numbers, xmin ymin xmax ymax, have %d", len(a))
	}
	var box [4]float64
	for i, e := range a {
		if box[i], err = numberOf(e); err != nil {
			return nil, err
		}
	}
	for i, axis := range []string{"x", "y"} {
		if box[i] > box[i+2] {
			return nil, fmt.Errorf("%smin %v is greater than %smax %v", axis, box[i], axis, box[i+2])
		}
	}
	return &box, nil
}

// rowsOf reads a range of rows: the first one, and the one after the last.
func rowsOf(v json.RawMessage) (*[2]int64, error) {
	a, err := arrayOf(v)
	if err != nil {
		return nil, err
	}
	if len(a) != 2 {
		return nil, fmt.Errorf("want 2 numbers, start and end, have %d", len(a))
	}
	var rows [2]int64
	for i, e := range a {
		if rows[i], err = countOf(e); err != nil {
			return nil, err
		}
	}
	if rows[0] > rows[1] {
		return nil, fmt.Errorf("start %d is greater than end %d", rows[0], rows[1])
	}
	return &rows, nil
}

// choiceOf reads a value of an enumeration by its name.
func choiceOf[E ~uint8](v json.RawMessage, names []string) (E, error) {
	s, err := textOf(v)
	if err != nil {
		return 0, err
	}
	i := slices.Index(names, s)
	if i < 0 {
		return 0, fmt.Errorf("%s is none of %q", excerpt.Of(v), names)
	}
	return E(i), nil
}

// optionsOf reads the options of a format.
func optionsOf(v json.RawMessage) (map[string]any, error) {
	ms, err := members(v)
	var at *Error
	if errors.As(err, &at) {
		return nil, optionError(at.Field, at.Err)
	}
	options := make(map[string]any, len(ms))
	for _, m := range ms {
		if options[m.key], err = scalarOf(m.value); err != nil {
			return nil, optionError(m.key, err)
		}
	}
	return options, nil
}

// partitionsOf reads the values of folders' columns.
func partitionsOf(v json.RawMessage) (map[string]any, error) {
	ms, err := members(v)
	if err != nil {
		return nil, err
	}
	if len(ms) == 0 {
		return nil, errors.New("is empty; leave it out for all rows")
	}
	values := make(map[string]any, len(ms))
	for _, m := range ms {
		if values[m.key], err = partitionOf(m.value); err != nil {
			return nil, &Error{Field: "partitions." + m.key, Err: err}
		}
	}
	return values, nil
}

// partitionOf reads a text, an integer or null.
func partitionOf(v json.RawMessage) (any, error) {
	switch {
	case v[0] == '"':
		return stringOf(v)
	case string(v) == "null":
		return nil, nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("want a text, an integer or null, have %s", excerpt.Of(v))
	}
	return n, nil
}

func optionError(key string, err error) error {
	if key == "" {
		return &Error{Field: "options", Err: err}
	}
	return &Error{Field: "options." + key, Err: err}
}
