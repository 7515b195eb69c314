package xlsx

import (
	"context"
	"errors"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/internal/xmlfile"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// part is an XML part of the package, which is unpacked to a temporary file. Its methods return false,
// with X.Fault or Failed set, if they can't go on.
type part struct {
	xmlfile.Scanner
	book *source.File
	name string
	file *source.File
}

// openPart unpacks a part and passes its XML declaration. The caller closes it.
func openPart(ctx context.Context, book *source.File, name string, limits readers.Limits) (*part, error) {
	file, err := book.Extract(ctx, name, nil, source.UnpackOptions{})
	if err != nil {
		return nil, packError(book, err)
	}
	p := &part{book: book, name: name, file: file}
	limits = limits.WithDefaults()
	ok := p.Begin(ctx, file, 0, math.MaxInt64, file.Size, &limits, window.Bytes)
	for ok && !p.X.Prolog() {
		ok = p.X.Cut() && p.Refill(0)
	}
	if !ok {
		return nil, p.close(p.fault(-1))
	}
	return p, nil
}

// close closes the part, and returns err, or else the error of closing.
func (p *part) close(err error) error {
	if closing := p.file.Close(); err == nil {
		return closing
	}
	return err
}

// packError returns an error of the archive with the file's format.
func packError(book *source.File, err error) error {
	if e := (*source.PackError)(nil); errors.As(err, &e) {
		return &readers.ParseError{
			Name: book.Name, Format: formatName, Offset: e.Offset, Row: -1, Unit: unit, Err: e.Err,
		}
	}
	return err
}

// fault returns the failure as an error. Its offset is one of the part.
func (p *part) fault(row int64) error {
	err := p.Error(formatName, row)
	if e := (*readers.ParseError)(nil); errors.As(err, &e) {
		e.Name, e.Text, e.Line, e.Unit = p.book.Name, p.name, 0, unit
	}
	return err
}

// root reads the start tag of the root, which has one of the names.
func (p *part) root(name string) bool {
	if p.Token() != xmltext.Start {
		return false
	}
	if string(p.X.Local()) != name {
		return p.Expect(p.X.At, "", "ECMA-376 part 1, section 18", "the root element <"+name+">")
	}
	return true
}

// each calls do with every element that is open inside of the root, in order, after its start tag.
// do returns with all of it read, or inside of it.
func (p *part) each(do func(local []byte) bool) bool {
	for {
		switch p.Token() {
		case xmltext.Start:
			if !do(p.X.Local()) {
				return false
			}
		case xmltext.End:
		case xmltext.EOF:
			return true
		default:
			return false
		}
	}
}

// richText appends the text of the element whose start tag was read, and passes its end: the text of
// its t elements, without phonetic hints (section 18.4.8).
func (p *part) richText(dst []byte) ([]byte, bool) {
	for base := p.X.Depth(); ; {
		switch p.X.Next() {
		case xmltext.Start:
			switch string(p.X.Local()) {
			case "r":
			case "t":
				text, _, ok := p.X.Value()
				if !ok {
					return dst, false
				}
				dst = appendUnescaped(dst, text)
			default:
				if !p.X.Skip() {
					return dst, false
				}
			}
		case xmltext.End:
			if p.X.Depth() < base {
				return dst, true
			}
		default:
			return dst, false
		}
	}
}

// appendUnescaped appends a text of type ST_Xstring (section 22.9.2.19), in which _x000D_ is the
// character U+000D.
func appendUnescaped(dst, text []byte) []byte {
	const size = len("_x000D_")
	for i := 0; i < len(text); i++ {
		if text[i] == '_' && i+size <= len(text) && text[i+1] == 'x' && text[i+size-1] == '_' {
			if r, ok := hex(text[i+2 : i+size-1]); ok {
				dst = append(dst, string(r)...)
				i += size - 1
				continue
			}
		}
		dst = append(dst, text[i])
	}
	return dst
}

// hex reads four hexadecimal digits of a character other than a surrogate and U+0000.
func hex(digits []byte) (r rune, ok bool) {
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, r != 0 && (r < 0xD800 || r > 0xDFFF)
}
