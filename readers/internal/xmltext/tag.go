package xmltext

import "bytes"

const tagRule = "XML 1.0 section 3.1"

// attribute is an attribute of the last start tag, as indices of the window.
type attribute struct {
	name, colon, nameEnd int // colon: after the prefix, or name
	value, valueEnd      int
	coded                bool // the value must be decoded
}

// startTag reads the start tag at p, which is '<' and the first byte of a name, and returns the
// index after it.
func (x *Scanner) startTag(p int) int {
	x.At = p
	switch {
	case x.Depth() >= x.MaxDepth:
		x.Fault = FaultAt{Pos: p, Want: "the nesting", Bare: true, Depth: true}
		return -1
	case x.closed && x.Depth() == 0:
		return x.wrong(p, "XML 1.0 section 2.1", "a second root element")
	}
	end := x.name(p + 1)
	if end < 0 {
		return -1
	}
	x.end = end
	x.attrs = x.attrs[:0]
	if x.at(end) != '>' {
		if end = x.attributes(end); end < 0 {
			return -1
		}
	}
	x.names = append(x.names, x.bytes(p+1, x.end)...)
	x.open = append(x.open, len(x.names))
	return end + 1
}

// name reads a name at p, whose first byte may begin one, and returns the index after it.
func (x *Scanner) name(p int) int {
	start := p
	x.colon = -1
	all := uint8(0)
	for {
		c := class[x.at(p)]
		for c&nameByte != 0 {
			all |= c
			p++
			c = class[x.at(p)]
		}
		if x.at(p) != ':' {
			break
		}
		const rule, what = "Namespaces in XML section 4",
			"a name has one colon at most, between a prefix and a local name"
		if x.colon >= 0 {
			return x.wrong(p, rule, what)
		}
		x.colon = p
		if p++; class[x.at(p)]&nameStart == 0 {
			return x.wrong(p, rule, what)
		}
	}
	if p >= x.N {
		return x.fail(x.N, tagRule, "the end of a tag")
	}
	if all&high != 0 {
		return x.properName(start, p)
	}
	return p
}

// attributes reads the attributes of a start tag from p on, up to its '>', whose index it gives.
func (x *Scanner) attributes(p int) int {
	colon := x.colon
	for {
		from := p
		p = x.blanks(p)
		switch c := x.at(p); {
		case c == '>':
			x.colon = colon
			return x.unique(p)
		case c == '/' && x.at(p+1) == '>':
			x.colon, x.empty = colon, true
			if p = x.unique(p + 1); p < 0 {
				x.empty = false
			}
			return p
		case c == '/':
			return x.fail(p+1, tagRule, `">" of an empty element`)
		case p == from && p < x.N:
			return x.fail(p, tagRule, `a blank, "/" or ">" in a tag`)
		case class[c]&nameStart == 0:
			return x.fail(p, tagRule, `an attribute, "/" or ">"`)
		}
		if p = x.attribute(p); p < 0 {
			return -1
		}
	}
}

// attribute reads one attribute at p, and returns the index after its closing quote.
func (x *Scanner) attribute(p int) int {
	a := attribute{name: p, colon: p}
	if p = x.name(p); p < 0 {
		return -1
	}
	a.nameEnd = p
	if x.colon >= 0 {
		a.colon = x.colon + 1
	}
	if p = x.blanks(p); x.at(p) != '=' {
		return x.fail(p, tagRule, `"=" behind the name of an attribute`)
	}
	p = x.blanks(p + 1)
	quote := x.at(p)
	if quote != '"' && quote != '\'' {
		return x.fail(p, tagRule, "the value of an attribute in quotes")
	}
	a.value = p + 1
	if a.valueEnd, a.coded = x.quoted(p+1, quote); a.valueEnd < 0 {
		return -1
	}
	x.attrs = append(x.attrs, a)
	return a.valueEnd + 1
}

// fewAttributes are compared each with each.
const fewAttributes = 16

// unique returns p, the end of a tag, unless a name is in it twice.
func (x *Scanner) unique(p int) int {
	var seen map[string]struct{}
	if len(x.attrs) > fewAttributes {
		seen = make(map[string]struct{}, len(x.attrs))
	}
	for i := range x.attrs {
		a := &x.attrs[i]
		name := x.bytes(a.name, a.nameEnd)
		twice := false
		if seen != nil {
			_, twice = seen[string(name)]
			seen[string(name)] = struct{}{}
		} else {
			for j := range x.attrs[:i] {
				b := &x.attrs[j]
				twice = twice || bytes.Equal(name, x.bytes(b.name, b.nameEnd))
			}
		}
		if twice {
			x.wrong(a.name, tagRule, "an attribute that the tag has already")
			return x.seen(p)
		}
	}
	return p
}

// endTag reads the end tag at p, and returns the index after it.
func (x *Scanner) endTag(p int) int {
	n := len(x.open)
	if n == 0 && x.loose {
		return x.looseEnd(p)
	}
	if n == 0 {
		return x.wrong(p, "XML 1.0 section 2.1", "an end tag where no element is open")
	}
	from := 0
	if n > 1 {
		from = x.open[n-2]
	}
	name := x.names[from:]
	end := p + 2 + len(name)
	if end >= x.N || x.at(end) != '>' || string(x.bytes(p+2, end)) != string(name) {
		if end = x.endTagRare(p, name); end < 0 {
			return -1
		}
	}
	x.At = p
	x.pop()
	return end + 1
}

// looseEnd reads the end tag at p of an element whose name is unknown, and returns the index after
// it.
func (x *Scanner) looseEnd(p int) int {
	end := x.name(p + 2)
	if end < 0 {
		return -1
	}
	if end = x.blanks(end); x.at(end) != '>' {
		return x.fail(end, tagRule, `">" of an end tag`)
	}
	x.At = p
	return end + 1
}

// endTagRare reads the end tag at p that has blanks, is cut, or is not one of the element called
// name. It returns the index of its '>'.
func (x *Scanner) endTagRare(p int, name []byte) int {
	for i, c := range name {
		if at := p + 2 + i; at >= x.N {
			return x.fail(x.N, tagRule, "an end tag")
		} else if x.at(at) != c {
			x.mismatch(p, name)
			return x.seen(at)
		}
	}
	end := p + 2 + len(name)
	if class[x.at(end)]&nameByte != 0 || x.at(end) == ':' {
		x.mismatch(p, name)
		return x.seen(end)
	}
	if end = x.blanks(end); x.at(end) != '>' {
		return x.fail(end, tagRule, `">" of an end tag`)
	}
	return end
}

func (x *Scanner) mismatch(p int, name []byte) {
	x.fail(p, tagRule, `the end tag "</`+string(x.utf8(nil, name))+`>"`)
}

// pop ends the innermost element.
func (x *Scanner) pop() {
	n := len(x.open) - 1
	x.open = x.open[:n]
	if n == 0 {
		x.names = x.names[:0]
		x.closed = x.outer == 0
		return
	}
	x.names = x.names[:x.open[n-1]]
}

// Name returns the name of the last start tag as written, prefix included.
func (x *Scanner) Name() []byte { return x.named(x.At+1, x.end) }

// Local returns the name of the last start tag without its prefix.
func (x *Scanner) Local() []byte { return x.named(max(x.At, x.colon)+1, x.end) }

// Prefix returns the prefix of the last start tag, empty if it has none.
func (x *Scanner) Prefix() []byte { return x.named(x.At+1, max(x.At+1, x.colon)) }

// named returns the name from p to end.
func (x *Scanner) named(p, end int) []byte {
	if x.Encoding.single() {
		return x.utf8(nil, x.bytes(p, end))
	}
	return x.bytes(p, end)
}

// Attr returns the value of the attribute of the last start tag that has a local name, whatever its
// prefix: the first one, if several have.
func (x *Scanner) Attr(local string) (value []byte, ok bool) {
	for i := range x.attrs {
		if a := &x.attrs[i]; string(x.bytes(a.colon, a.nameEnd)) == local {
			return x.AttrValue(i), true
		}
	}
	return nil, false
}

// Attrs returns the number of attributes of the last start tag.
func (x *Scanner) Attrs() int { return len(x.attrs) }

// AttrName returns the name of attribute i of the last start tag as written, and its local part.
func (x *Scanner) AttrName(i int) (name, local []byte) {
	a := &x.attrs[i]
	return x.named(a.name, a.nameEnd), x.named(a.colon, a.nameEnd)
}

// AttrLocal returns the local part of the name of attribute i of the last start tag.
func (x *Scanner) AttrLocal(i int) []byte {
	a := &x.attrs[i]
	return x.named(a.colon, a.nameEnd)
}

// AttrValue returns the value of attribute i of the last start tag.
func (x *Scanner) AttrValue(i int) []byte {
	a := &x.attrs[i]
	if !a.coded {
		return x.bytes(a.value, a.valueEnd)
	}
	x.attr = x.decode(x.attr[:0], a.value, a.valueEnd, true)
	return x.attr
}

// AttrOffset returns the offset in the file of the value of attribute i of the last start tag.
func (x *Scanner) AttrOffset(i int) int64 { return x.Base + int64(x.attrs[i].value) }
