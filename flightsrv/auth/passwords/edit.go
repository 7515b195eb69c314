package passwords

import (
	"bytes"
	"strings"
)

// Line returns the line of a user.
func Line(name, hash string, groups []string) string {
	line := name + ":" + hash
	if len(groups) > 0 {
		line += ":" + strings.Join(groups, ",")
	}
	return line
}

// HashOf returns the hash in a line.
func HashOf(line string) string {
	fields := strings.Split(line, ":")
	if len(fields) < 2 {
		return ""
	}
	return fields[1]
}

// Replace replaces the line of a user by edit, which returns false for no line. It leaves other
// lines as they are. found is false if the user has no line; then the text does not change.
func Replace(text []byte, name string, edit func(line string) (string, bool)) (edited []byte, found bool) {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte(name+":")) {
			edited = append(edited, line...)
			continue
		}
		found = true
		if changed, keep := edit(strings.TrimRight(string(line), "\r\n")); keep {
			edited = append(edited, changed+"\n"...)
		}
	}
	return edited, found
}

// Append adds a line at the end of a text.
func Append(text []byte, line string) []byte {
	text = bytes.Clone(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return append(text, line+"\n"...)
}
