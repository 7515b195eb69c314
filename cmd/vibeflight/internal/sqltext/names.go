package sqltext

import (
	"slices"
	"strings"
)

// beforeTable are the words after which a statement names a table.
var beforeTable = []string{"from", "join", "describe", "summarize", "table", "show"}

// Tables returns the tables that a statement names, as it writes them: world."x.geojson".
func Tables(text string) []string {
	var names []string
	expects := false
	for at := 0; at < len(text); {
		t := next(text, at)
		at = t.end
		piece := text[t.start:t.end]
		switch {
		case t.kind == space || t.kind == comment:
		case expects && (t.kind == word || t.kind == quoted && t.closed):
			end := qualified(text, t.end)
			names, expects, at = append(names, text[t.start:end]), false, end
		default:
			expects = t.kind == word && slices.Contains(beforeTable, strings.ToLower(piece))
		}
	}
	return names
}

// qualified returns the end of a name whose first part ends at a byte: after .name, or there.
func qualified(text string, end int) int {
	for end < len(text)-1 && text[end] == '.' {
		t := next(text, end+1)
		if t.kind != word && (t.kind != quoted || !t.closed) {
			break
		}
		end = t.end
	}
	return end
}

// Cursor is where a statement ends that is being written.
type Cursor struct {
	Word    string // the word or the name that has begun, with its opening quote; empty after a space
	Start   int    // the byte at which it begins
	Table   bool   // a table is expected there
	Writing bool   // no text and no comment has begun
}

// At returns what stands at the end of a text.
func At(text string) Cursor {
	c := Cursor{Start: len(text), Writing: true}
	for at := 0; at < len(text); {
		t := next(text, at)
		at = t.end
		piece := text[t.start:t.end]
		last := t.end == len(text)
		switch {
		case t.kind == space:
		case t.kind == comment:
			c.Writing = !last || t.closed
		case last && t.kind == word, last && t.kind == quoted && !t.closed:
			c.Word, c.Start = piece, t.start
			return c
		case t.kind == literal:
			c.Writing, c.Table = t.closed, false
		default:
			c.Table = t.kind == word && slices.Contains(beforeTable, strings.ToLower(piece))
		}
	}
	return c
}

// Quote returns a name as a statement has to write it.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Plain reports whether a name needs no quotes: letters, digits and "_" that are in lower case.
func Plain(name string) bool {
	return name != "" && begins(name) && wordLength(name) == len(name) && strings.ToLower(name) == name
}

// OneLine returns a statement as one line of a history: line ends become spaces, and a comment to the
// end of its line one that ends by itself. ok is false if a text or a name has a line end.
func OneLine(text string) (line string, ok bool) {
	var b strings.Builder
	for at := 0; at < len(text); {
		t := next(text, at)
		piece := text[t.start:t.end]
		at = t.end
		switch {
		case t.kind == space:
			piece = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(piece)
		case t.kind == comment && strings.HasPrefix(piece, "--"):
			inner := strings.ReplaceAll(strings.TrimSpace(piece[2:]), "*/", "")
			piece = "/* " + strings.ReplaceAll(inner, "/*", "") + " */ "
		case t.kind == comment:
			piece = strings.NewReplacer("\r\n", " ", "\n", " ").Replace(piece)
		case strings.ContainsAny(piece, "\r\n"):
			return "", false
		}
		b.WriteString(piece)
	}
	return strings.TrimSpace(b.String()), true
}

// find returns the byte at which a text has a name, as a word or in quotes, and -1 without it.
func find(text, name string) int {
	for at := 0; at < len(text); {
		t := next(text, at)
		at = t.end
		piece := text[t.start:t.end]
		if t.kind == word && strings.EqualFold(piece, name) ||
			t.kind == quoted && t.closed && strings.EqualFold(piece, Quote(name)) {
			return t.start
		}
		if end := qualified(text, t.end); t.kind == word || t.kind == quoted {
			if strings.EqualFold(strings.ReplaceAll(text[t.start:end], `"`, ""), name) {
				return t.start
			}
		}
	}
	return -1
}
