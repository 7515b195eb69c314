package duck

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Kind classifies errors of queries.
type Kind int

// The kinds of errors.
const (
	Internal    Kind = iota // an internal error of DuckDB or of this package
	Syntax                  // the text is not SQL
	Name                    // no table, column or function of that name
	Type                    // no such operation on these types
	Value                   // a value that cannot be converted, or is out of range
	Denied                  // not allowed here: not a query, or a refused function
	Memory                  // above the memory limit, or no room to spill
	Interrupted             // ended by its context or by Close
	Unsupported             // DuckDB does not support it, or its result has no Arrow type
)

// Error is an error in a query or of its run. It has DuckDB's words, without the class at the start
// and without the marked line at the end.
type Error struct {
	Kind     Kind
	Message  string
	Position int // byte in the text of the query; -1: unknown

	fatal bool // DuckDB refuses everything after it
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// newError makes an error of DuckDB's class, message and position.
func newError(class, message, position string) *Error {
	message, _, _ = strings.Cut(message, "\n\nLINE ")
	message = withoutAdvice(message)
	at, err := strconv.Atoi(position)
	if err != nil {
		at = -1
	}
	// No function that opens a file gets this far. This is the name of a table that looks like a
	// file to DuckDB, and that does not exist.
	if file, ok := strings.CutPrefix(message, "Cannot access file "); ok {
		name, _, _ := strings.Cut(file, " - file system")
		class, message = "Catalog", "Table with name "+strings.Trim(name, `"`)+" does not exist!"
	}
	fatal := strings.EqualFold(class, "fatal") || strings.EqualFold(class, "internal")
	return &Error{Kind: kindOf(class, message), Message: strings.TrimSpace(message), Position: at, fatal: fatal}
}

// InstallSpatial is the command that fetches the spatial extension for this version of DuckDB.
func InstallSpatial() string {
	return "pip install duckdb-extension-spatial==" + strings.TrimPrefix(LibraryVersion(), "v")
}

// withoutAdvice removes what DuckDB suggests and what is not possible here: to load extensions or
// to change settings.
func withoutAdvice(message string) string {
	for _, a := range []struct{ begins, instead string }{
		{
			"\n\nPlease try installing and loading the spatial extension",
			" The server runs without it: " + InstallSpatial() + " in its Python environment, or " +
				"--duckdb-extensions says where it is.",
		},
		{"\n\nPlease try installing and loading", " The server does not have it."},
		{"\n\nPossible solutions:", ""},
	} {
		if before, _, ok := strings.Cut(message, a.begins); ok {
			return before + a.instead
		}
	}
	return message
}

// parseError reads an error of DuckDB. It is JSON, with the class repeated at the start if the
// parser made it, or text if the C API did.
func parseError(text string) *Error {
	class, message, ok := strings.Cut(text, " Error: ")
	if !ok || strings.HasPrefix(text, "{") {
		class, message = "", text
	}
	var e struct {
		Class    string `json:"exception_type"`
		Message  string `json:"exception_message"`
		Position string `json:"position"`
	}
	if json.Unmarshal([]byte(message), &e) == nil {
		return newError(e.Class, e.Message, e.Position)
	}
	return newError(class, message, "")
}

// kindOf maps DuckDB's classes of errors: of its exceptions and, in lower case, of its syntax
// trees.
func kindOf(class, message string) Kind {
	switch strings.ToLower(class) {
	case "parser", "syntax":
		return Syntax
	case "catalog":
		return Name
	case "binder":
		return binderKind(message)
	case "conversion", "out of range", "invalid input", "divide by zero", "decimal", "constraint",
		"object size", "invalid":
		return Value
	case "mismatch type", "invalid type", "unknown type", "expression", "parameter not resolved",
		"parameter not allowed":
		return Type
	case "permission", "invalid configuration", "settings", "missing extension", "http", "autoload", "extension":
		return Denied
	case "out of memory":
		return Memory
	case "interrupt":
		return Interrupted
	case "not implemented":
		return Unsupported
	}
	return Internal
}

// The binder's class covers both names and types.
func binderKind(message string) Kind {
	for _, s := range []string{
		"Referenced ", "Catalog ", "Table ", "Schema ", "Ambiguous ", "Column ",
		"No function matches",
	} {
		if strings.HasPrefix(message, s) {
			if s == "No function matches" {
				break
			}
			return Name
		}
	}
	return Type
}

func denied(format string, args ...any) *Error {
	return &Error{Kind: Denied, Message: fmt.Sprintf(format, args...), Position: -1}
}
