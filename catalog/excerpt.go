package catalog

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/readers"
)

// Line is a line of a text file, or its first characters.
type Line struct {
	Number int64  `json:"number,omitempty"` // from 1; 0: unknown
	Byte   int64  `json:"byte"`             // of its text, from 0
	Text   string `json:"text"`
}

// The lines of an excerpt.
const (
	linesBefore = 2
	linesAfter  = 2
	lineRunes   = 200
)

// Excerpt returns the lines around the byte that a parse found malformed, from a text file that is
// neither packed nor recoded. It returns nil if there are none, or the caller may not read all of the
// entry.
func (c *Catalog) Excerpt(ctx context.Context, req Request, at *readers.ParseError) []Line {
	s := c.Scope(ctx)
	if !s.Allows(access.Read, req.Name) || !access.KnowsAll(s, req.Name) || at.Text != "" || at.Offset < 0 {
		return nil
	}
	j, err := c.job(ctx, req)
	if err != nil || j.Format.Binary {
		return nil
	}
	src, err := j.Entry.Open(ctx, readers.Format{})
	if err != nil {
		return nil
	}
	defer src.Close()
	content, err := c.cfg.Formats.UnpackLayer(ctx, j.Format, src, j.Entry.Layer, c.loader.Unpacking())
	if err != nil {
		return nil
	}
	if content != src {
		_ = content.Close()
		return nil
	}
	const reach = (linesBefore + linesAfter + 1) * lineRunes * utf8.UTFMax
	from := max(0, at.Offset-reach/2)
	text := make([]byte, min(reach, max(0, src.Size-from)))
	if _, err := src.ReadAt(text, from); err != nil {
		return nil
	}
	return linesOf(text, from, at)
}

// linesOf returns the lines around an error in a part of a file.
func linesOf(text []byte, from int64, at *readers.ParseError) []Line {
	offset := int(min(at.Offset-from, int64(len(text))))
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	cut := start == 0 && from > 0 // the line begins before the text
	lines := []Line{lineAt(text, start, offset, from, at.Line)}
	for i := int64(1); i <= linesBefore && start > 0; i++ {
		end := start
		start = bytes.LastIndexByte(text[:end-1], '\n') + 1
		if start == 0 && from > 0 {
			break // only a part of the line is known
		}
		lines = append([]Line{lineAt(text, start, start, from, number(at.Line, -i))}, lines...)
	}
	if cut {
		lines = lines[len(lines)-1:]
	}
	next := offset
	for i := int64(1); i <= linesAfter; i++ {
		n := bytes.IndexByte(text[next:], '\n')
		if n < 0 || next+n+1 >= len(text) {
			break
		}
		next += n + 1
		lines = append(lines, lineAt(text, next, next, from, number(at.Line, i)))
	}
	return lines
}

// number returns the number of a line that follows another one; 0 if that is unknown.
func number(line, after int64) int64 {
	if line <= 0 || line+after <= 0 {
		return 0
	}
	return line + after
}

// lineAt returns the line that begins at start, or if it is long, its part around offset.
func lineAt(text []byte, start, offset int, from, number int64) Line {
	if offset-start > lineRunes/2 {
		start = offset - lineRunes/2
		for start < offset && !utf8.RuneStart(text[start]) {
			start++
		}
	}
	line := text[start:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	end := 0
	for runes := 0; runes < lineRunes && end < len(line); runes++ {
		_, n := utf8.DecodeRune(line[end:])
		end += n
	}
	return Line{Number: number, Byte: from + int64(start), Text: string(bytes.ToValidUTF8(line[:end],
		[]byte("\ufffd")))}
}
