package ticket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
)

// member is a key of a JSON object with the text of its value.
type member struct {
	key   string
	value json.RawMessage
}

// members reads b as one JSON object (RFC 8259). Unlike encoding/json, it refuses invalid UTF-8,
// repeated keys and keys in another case. Errors are [*Error] with the current key.
func members(b []byte) ([]member, error) {
	if !utf8.Valid(b) {
		return nil, &Error{Err: errors.New("is not UTF-8")}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, &Error{Err: errors.New("want a JSON object")}
	}
	var ms []member
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, &Error{Err: fmt.Errorf("byte %d: want a key: %w", dec.InputOffset(), truncated(err))}
		}
		if seen[key] {
			return nil, &Error{Field: key, Err: errors.New("is given twice")}
		}
		seen[key] = true
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, &Error{Field: key, Err: truncated(err)}
		}
		ms = append(ms, member{key, bytes.TrimSpace(v)})
	}
	if _, err := dec.Token(); err != nil {
		return nil, &Error{Err: fmt.Errorf("byte %d: %w", dec.InputOffset(), truncated(err))}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{Err: fmt.Errorf("byte %d: text after the JSON object", dec.InputOffset())}
	}
	return ms, nil
}

// readObject reads an object whose values are strings. Each field is optional.
func readObject(b []byte, fields map[string]*string) error {
	if err := checkSize(b); err != nil {
		return err
	}
	ms, err := members(b)
	if err != nil {
		return err
	}
	for _, m := range ms {
		to, ok := fields[m.key]
		if !ok {
			return &Error{Field: m.key, Err: fmt.Errorf("is unknown; known are %q", slices.Sorted(maps.Keys(fields)))}
		}
		if *to, err = stringOf(m.value); err != nil {
			return &Error{Field: m.key, Err: err}
		}
	}
	return nil
}

// truncated describes an error at the end of the text.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON object ends too early")
	}
	return err
}

func stringOf(v json.RawMessage) (string, error) {
	if v[0] != '"' {
		return "", fmt.Errorf("want a text, have %s", excerpt.Of(v))
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err
}

func textOf(v json.RawMessage) (string, error) {
	s, err := stringOf(v)
	if err == nil && s == "" {
		err = errors.New("is empty")
	}
	return s, err
}

// countOf reads a whole number from 0 to 2^63-1.
func countOf(v json.RawMessage) (int64, error) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("want a whole number below 2^63, have %s", excerpt.Of(v))
	}
	if n < 0 {
		return 0, fmt.Errorf("%d is negative", n)
	}
	return n, nil
}

// numberOf reads a number of the range of float64.
func numberOf(v json.RawMessage) (float64, error) {
	if v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return 0, fmt.Errorf("want a number, have %s", excerpt.Of(v))
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is out of range", excerpt.Of(v))
	}
	return n, nil
}

func arrayOf(v json.RawMessage) ([]json.RawMessage, error) {
	if v[0] != '[' {
		return nil, fmt.Errorf("want an array, have %s", excerpt.Of(v))
	}
	var a []json.RawMessage
	if err := json.Unmarshal(v, &a); err != nil {
		return nil, err
	}
	for i := range a {
		a[i] = bytes.TrimSpace(a[i])
	}
	return a, nil
}

// scalarOf returns a string, a bool or a float64.
func scalarOf(v json.RawMessage) (any, error) {
	switch v[0] {
	case '"':
		return stringOf(v)
	case 't', 'f':
		return v[0] == 't', nil
	case 'n', '{', '[':
		return nil, fmt.Errorf("want a text, a number or a boolean, have %s", excerpt.Of(v))
	}
	return numberOf(v)
}

// Fields calls each with the members of a JSON object of at most [MaxBytes]. Errors are [*Error].
func Fields(b []byte, each func(key string, value json.RawMessage)) error {
	if err := checkSize(b); err != nil {
		return err
	}
	ms, err := members(b)
	for _, m := range ms {
		each(m.key, m.value)
	}
	return err
}
