package httpcall

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Element is an element of a header such as Accept, with its weight (RFC 9110 section 12.4.2).
type Element struct {
	Value      string            // in lower case, without parameters
	Parameters map[string]string // without q
	Weight     float64           // from 0 to 1
}

// Elements returns the elements of all headers of a name. An element that can't be parsed is left
// out.
func Elements(h http.Header, name string) []Element {
	var all []Element
	for _, line := range h.Values(name) {
		for _, text := range splitList(line) {
			if e, ok := parseElement(text); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

// maxElements bounds the elements of a header that are read.
const maxElements = 100

// splitList splits a list at its commas, except those inside of quotes.
func splitList(line string) []string {
	var all []string
	quoted, escaped, start := false, false, 0
	for i := 0; i < len(line) && len(all) < maxElements; i++ {
		switch c := line[i]; {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			all = append(all, line[start:i])
			start = i + 1
		}
	}
	return append(all, line[start:])
}

// parseElement parses an element of a list, as `text/csv; header=present; q=0.5`.
func parseElement(text string) (Element, bool) {
	e := Element{Weight: 1}
	var err error
	if e.Value, e.Parameters, err = mime.ParseMediaType(text); err != nil {
		return e, false
	}
	if q, ok := e.Parameters["q"]; ok {
		delete(e.Parameters, "q")
		if e.Weight, err = strconv.ParseFloat(q, 64); err != nil || !(e.Weight >= 0 && e.Weight <= 1) {
			return e, false
		}
	}
	return e, true
}

// WeightOf returns the weight of a media type: that of the most specific range that contains it
// (RFC 9110 section 12.5.1). It is 0 if no range contains
// it.
func WeightOf(accepted []Element, mediaType string) (best Element) {
	kind, _, _ := strings.Cut(mediaType, "/")
	specific := 0
	for _, e := range accepted {
		is := 0
		switch e.Value {
		case mediaType:
			is = 3
		case kind + "/*":
			is = 2
		case "*/*":
			is = 1
		}
		if is > specific {
			best, specific = e, is
		}
	}
	return best
}
