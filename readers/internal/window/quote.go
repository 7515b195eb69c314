package window

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxFound bounds the text that an error quotes.
const maxFound = 40

// Found describes the text at offset off of the file for an error. It reads the file again, since
// the window may end inside of the text.
func (w *Window) Found(off int64) (string, error) {
	b := make([]byte, min(maxFound, w.End-off))
	if n, err := w.Src.ReadAt(b, off); n < len(b) {
		return "", fmt.Errorf("%s: reading the text at byte %d: %w", w.Src.Name, off, err)
	}
	return Quote(b), nil
}

// Quote describes the beginning of a text for an error.
func Quote(b []byte) string {
	b = b[:min(maxFound, len(b))]
	if len(b) == 0 {
		return "the end of the file"
	}
	if b[0] == '"' {
		if end := bytes.IndexByte(b[1:], '"'); end >= 0 && utf8.Valid(b[:end+2]) {
			return string(b[:end+2])
		}
	}
	if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
		return fmt.Sprintf("%q", string(r))
	}
	return fmt.Sprintf("byte 0x%02x", b[0])
}

// LineAt returns the line of the byte at offset off, from 1: lines end with a line feed. It reads
// the file again, which is fine since errors are rare.
func (w *Window) LineAt(off int64) (int64, error) {
	line := int64(1)
	buf := make([]byte, min(Bytes, off))
	for at := int64(0); at < off; {
		if err := w.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := w.Src.ReadAt(buf[:min(int64(len(buf)), off-at)], at)
		if n == 0 {
			return 0, fmt.Errorf("%s: counting lines: %w", w.Src.Name, err)
		}
		line += int64(bytes.Count(buf[:n], []byte{'\n'}))
		at += int64(n)
	}
	return line, nil
}
