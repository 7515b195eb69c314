package xmltext

import (
	"bytes"
	"slices"
	"unsafe"
)

// Padding is how many zero bytes must be readable after the window: they stop every loop.
const Padding = 64

// Token is the result of Next.
type Token uint8

const (
	Fault Token = iota // failure: Scanner.Fault has the reason
	Start              // the start tag of an element
	End                // the end of the innermost open element
	EOF                // the end of the document
)

// Scanner reads a document. The zero value with a MaxDepth, given a Window, begins at the first
// byte of a file with Prolog.
type Scanner struct {
	Q    unsafe.Pointer // the window's first byte
	N    int            // bytes in the window; zeros follow
	Base int64          // offset of the window in the file
	// index of the next byte. A caller that reads character data itself moves it to the next '<'
	P int

	At       int      // index of the '<' of the last tag
	Fault    FaultAt  // reason for the failure of the last call
	MaxDepth int      // maximum number of open elements
	Most     int      // maximum bytes of one tag, comment or text between two of them; 0: no limit
	Encoding Encoding // of the bytes; Prolog sets it

	last   bool // the file ends with the window
	empty  bool // the last tag is <a/>: its End is still to come
	closed bool // the root has ended
	colon  int  // index of the colon in the last tag's name; -1: none
	end    int  // index after that name
	attrs  []attribute
	open   []int // open elements: ends of their names in names
	names  []byte
	outer  int  // elements that are open around the first byte read and not in open
	loose  bool // any end tag may end one of those

	decoded []byte // of Text and Value
	attr    []byte // of Attr
}

// Window sets the window to n bytes at q, from offset base of the file, which include those from P
// on. P is the first byte of a scanner's first window. Padding zeros must be readable after them.
// last: the file, or the part to be read, ends with them.
func (x *Scanner) Window(q unsafe.Pointer, n int, base int64, last bool) {
	if x.Q == nil {
		x.Base = base
	}
	shift := int(x.Base - base)
	x.P += shift
	x.At += shift
	x.Q, x.N, x.Base, x.last = q, n, base, last
}

// Resume starts at the first byte of the next window, inside of n open elements. Their names are
// unknown, so none of them may end within the bytes to be read.
func (x *Scanner) Resume(depth int) {
	x.restart()
	x.open, x.names, x.outer = x.open[:0], x.names[:0], depth
}

// ResumeIn is Resume inside of the elements that are open in another scanner. They may end.
func (x *Scanner) ResumeIn(y *Scanner) {
	x.restart()
	x.open, x.names, x.outer = append(x.open[:0], y.open...), append(x.names[:0], y.names...), y.outer
}

// ResumeLoose is Resume inside of elements of which an unknown number ends within the bytes to be
// read. Their end tags are trusted, since these bytes were checked in an earlier read.
func (x *Scanner) ResumeLoose() {
	x.Resume(1)
	x.loose = true
}

// SameElements reports whether the same elements, by their names as written, are open in both
// scanners.
func (x *Scanner) SameElements(y *Scanner) bool {
	return x.outer == y.outer && slices.Equal(x.open, y.open) && bytes.Equal(x.names, y.names)
}

func (x *Scanner) restart() {
	x.Q, x.N, x.P, x.At = nil, 0, 0, 0
	x.last, x.empty, x.closed, x.loose = false, false, false, false
	x.attrs, x.Fault = x.attrs[:0], FaultAt{}
}

// Depth returns the number of open elements: 1 in the content of the root. The element of a Start
// counts, that of an End does not.
func (x *Scanner) Depth() int { return x.outer + len(x.open) }

// InEmpty reports whether the last tag was <a/>, whose End comes next.
func (x *Scanner) InEmpty() bool { return x.empty }

// Offset returns the offset in the file of the last tag.
func (x *Scanner) Offset() int64 { return x.Base + int64(x.At) }

// Cut reports whether the last call failed only because the window ends before the file.
func (x *Scanner) Cut() bool { return x.Fault.Pos >= x.N && !x.last }

// Mark is a place to which Rewind goes back.
type Mark struct {
	off    int64
	at     int64
	open   int
	names  int
	empty  bool
	closed bool
}

// Mark returns the current place. None of the elements that are open there may end before Rewind.
func (x *Scanner) Mark() Mark {
	return Mark{x.Base + int64(x.P), x.Base + int64(x.At), len(x.open), len(x.names), x.empty, x.closed}
}

// TagMark returns the place before the start tag that was just read.
func (x *Scanner) TagMark() Mark {
	at := x.Base + int64(x.At)
	n := len(x.open) - 1
	m := Mark{off: at, at: at, open: n}
	if n > 0 {
		m.names = x.open[n-1]
	}
	return m
}

// Index returns where in the window the place is.
func (m Mark) Index(x *Scanner) int { return int(m.off - x.Base) }

// Rewind goes back to a place in the window. Attributes of the tag before it are lost.
func (x *Scanner) Rewind(m Mark) {
	x.P, x.At = int(m.off-x.Base), int(m.at-x.Base)
	x.open, x.names, x.empty, x.closed = x.open[:m.open], x.names[:m.names], m.empty, m.closed
	x.attrs = x.attrs[:0]
}

// Next skips character data, comments and processing instructions, and reads the tag after them.
// Only blanks are allowed outside of the root.
func (x *Scanner) Next() Token {
	if x.empty {
		x.empty = false
		x.pop()
		return End
	}
	for {
		if x.at(x.P) != '<' {
			p := x.between()
			if !x.fits(p) {
				return Fault
			}
			x.P = p
			if p >= x.N {
				return x.ends()
			}
		}
		p := x.P
		switch c := x.at(p + 1); {
		case c == '/':
			if end := x.endTag(p); x.fits(end) {
				x.P = end
				return End
			}
			return Fault
		case class[c]&nameStart != 0:
			if end := x.startTag(p); x.fits(end) {
				x.P = end
				return Start
			}
			return Fault
		}
		if p = x.aside(p); !x.fits(p) {
			return Fault
		}
		x.P = p
	}
}

// fits reports whether the piece at P, up to end, is well-formed (end is not negative) and at most
// Most bytes long. A piece that the window cuts is too long as soon as it exceeds Most, so that
// windows don't matter.
func (x *Scanner) fits(end int) bool {
	to := end
	if end < 0 {
		to = min(max(x.Fault.Pos, x.Fault.seen), x.N)
	}
	if x.Most > 0 && to-x.P > x.Most {
		x.Fault = FaultAt{Pos: x.P, Want: "a shorter text", Long: true}
		return false
	}
	return end >= 0
}

// between skips the text between two tags, up to the next '<' or, outside of the root, the end of
// the file.
func (x *Scanner) between() int {
	if x.Depth() > 0 {
		end, _ := x.chars(x.P)
		return end
	}
	p := x.P
	for class[x.at(p)]&blank != 0 {
		p++
	}
	switch {
	case x.at(p) == '<' && p < x.N:
		return p
	case p < x.N && x.closed:
		return x.wrong(p, "XML 1.0 section 2.1", "text after the root element")
	case p < x.N:
		return x.fail(p, "XML 1.0 section 2.1", `"<" of the root element`)
	case !x.last:
		return x.fail(p, "", "")
	}
	return p
}

// ends returns the end of the window, outside of the root. between has checked whether that is the
// end of the file.
func (x *Scanner) ends() Token {
	if x.closed {
		return EOF
	}
	x.fail(x.N, "XML 1.0 section 2.1", "a root element")
	return Fault
}

// Skip skips the content of the element whose Start was read, and its end. If it returns false
// because the window ends, Pass continues.
func (x *Scanner) Skip() bool { return x.Pass(x.Depth() - 1) }

// Pass reads until only n elements are open.
func (x *Scanner) Pass(depth int) bool {
	for x.Depth() > depth {
		if x.Next() == Fault {
			return false
		}
	}
	return true
}

// at returns the byte at index p, 0 after the end.
func (x *Scanner) at(p int) byte { return *(*byte)(unsafe.Add(x.Q, p)) }

// word returns the eight bytes at index p, the first one lowest.
func (x *Scanner) word(p int) uint64 { return *(*uint64)(unsafe.Add(x.Q, p)) }

// bytes returns the bytes from p to end.
func (x *Scanner) bytes(p, end int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(x.Q, p)), end-p)
}

// has reports whether the text lit is at p. Where the window cuts it, it does not.
func (x *Scanner) has(p int, lit string) bool {
	return p+len(lit) <= x.N && unsafe.String((*byte)(unsafe.Add(x.Q, p)), len(lit)) == lit
}

// literal reads a text that must be at p.
func (x *Scanner) literal(p int, lit, rule, want string) int {
	for i := range len(lit) {
		if x.at(p+i) != lit[i] || p+i >= x.N {
			return x.fail(p+i, rule, want)
		}
	}
	return p + len(lit)
}

// blanks skips white space.
func (x *Scanner) blanks(p int) int {
	for class[x.at(p)]&blank != 0 {
		p++
	}
	return p
}
