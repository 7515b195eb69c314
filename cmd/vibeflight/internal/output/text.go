package output

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WriteJSON writes v as one line, with "<" and "&" as they are.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// OneLine makes text from files and servers safe to print: it may contain line ends and control
// sequences.
func OneLine(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case !unicode.IsGraphic(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// marked matches the text of an error that ends with a line of SQL, and a mark below a place in it.
var marked = regexp.MustCompile(`(?s)^(.*)\n  ([^\n]*)\n( +\^)$`)

// ErrorLines is OneLine for the text of an error. A line of SQL with a mark below stays a line.
func ErrorLines(text string) string {
	if m := marked.FindStringSubmatch(text); m != nil {
		return OneLine(m[1]) + "\n  " + OneLine(m[2]) + "\n" + m[3]
	}
	return OneLine(text)
}

// Clip returns at most n characters of text, the last one "…" if something is missing.
func Clip(text string, n int) string {
	runes, last := 0, 0 // last is the start of the n-th character
	for i := range text {
		if runes == n {
			return text[:last] + "…"
		}
		runes, last = runes+1, i
	}
	return text
}

// ErrorText returns the text of an error. An error of the file system about a single path is shown
// without its system call: "x: no such file or directory".
func ErrorText(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) && errors.Is(err, path) {
		call := path.Op + " " + path.Path + ": "
		return strings.Replace(err.Error(), call, path.Path+": ", 1)
	}
	return err.Error()
}
