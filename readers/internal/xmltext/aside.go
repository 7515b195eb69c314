package xmltext

import "bytes"

// This file knows what is neither a tag nor plain text: CDATA sections, comments and processing
// instructions.

const sectionStart = "<![CDATA["

// section reads the CDATA section at p, and returns the index of the "]]>" that ends it.
func (x *Scanner) section(p int) (end int, plain bool) {
	const rule, want = "XML 1.0 section 2.7", `"]]>" of a CDATA section`
	if p = x.literal(p, sectionStart, rule, `"[CDATA["`); p < 0 {
		return -1, false
	}
	plain = true
	for {
		end, ok := x.run(p, ']', want)
		if end < 0 {
			return -1, false
		}
		plain = plain && ok
		if x.at(end+1) == ']' && x.at(end+2) == '>' {
			return end, plain
		}
		if end+2 >= x.N {
			return x.fail(x.N, rule, want), false
		}
		p = end + 1
	}
}

// aside passes what is neither a tag nor text: the comment, CDATA section or processing instruction
// at p. Anything else there is a fault.
func (x *Scanner) aside(p int) int {
	switch c := x.at(p + 1); {
	case c == '?':
		return x.instruction(p)
	case c != '!':
		return x.fail(p+1, textRule, `the name of a tag: "<" in text is written "&lt;"`)
	}
	switch x.at(p + 2) {
	case '-':
		return x.comment(p)
	case '[':
		if x.Depth() == 0 {
			return x.wrong(p, "XML 1.0 section 2.1", "a CDATA section outside of the root element")
		}
		end, _ := x.section(p)
		return okOr(end+len("]]>"), end >= 0)
	case 'D':
		if p = x.literal(p, "<!DOCTYPE", "XML 1.0 section 2.8", `a comment or a CDATA section`); p >= 0 {
			x.wrong(p-len("<!DOCTYPE"), "XML 1.0 section 2.8",
				"a document type declaration, which is not read: it could define entities and draw in other files. "+
					"Take it out")
			return x.seen(p - 1)
		}
		return -1
	}
	return x.fail(p+2, "XML 1.0 section 2.5", "a comment or a CDATA section")
}

// comment passes the comment at p.
func (x *Scanner) comment(p int) int {
	const rule, want = "XML 1.0 section 2.5", `"-->" of a comment`
	if p = x.literal(p, "<!--", rule, "a comment"); p < 0 {
		return -1
	}
	for {
		if p, _ = x.run(p, '-', want); p < 0 {
			return -1
		}
		if x.at(p+1) == '-' {
			return x.literal(p, "-->", rule, `">" after "--", which a comment may not hold`)
		}
		p++
	}
}

// instruction passes the processing instruction at p.
func (x *Scanner) instruction(p int) int {
	const rule, want = "XML 1.0 section 2.6", `"?>" of a processing instruction`
	if p+2 < x.N && class[x.at(p+2)]&nameStart == 0 {
		return x.fail(p+2, rule, "the name of a processing instruction")
	}
	colon := x.colon
	end := x.name(p + 2)
	x.colon = colon
	switch {
	case end < 0:
		return -1
	case bytes.EqualFold(x.bytes(p+2, end), []byte("xml")):
		x.wrong(p, rule, "an XML declaration that does not begin the file")
		return x.seen(end)
	case x.at(end) == '?':
		return x.literal(end, "?>", rule, want)
	case class[x.at(end)]&blank == 0:
		return x.fail(end, rule, `a blank or "?>" of a processing instruction`)
	}
	for {
		if end, _ = x.run(end, '?', want); end < 0 {
			return -1
		}
		if x.at(end+1) == '>' {
			return end + 2
		}
		if end+1 >= x.N {
			return x.fail(x.N, rule, want)
		}
		end++
	}
}
