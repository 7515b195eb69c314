package json_test

import (
	"bytes"
	"encoding/json"
	"strings"

	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// member is what Records says of one.
type member struct {
	row, owner int32
	key, value string // the raw text
	keyAt, at  int64
	kind       kjson.ValueKind
}

// recordList is what Records says of a text.
type recordList struct {
	open, close []int64
	members     []member
}

// recordReader reads records byte by byte, as a parser does. It panics with a *badRecords.
type recordReader struct {
	text []byte
	at   int
	recordList
}
type badRecords struct{ at int }

func (r *recordReader) bad() { panic(&badRecords{r.at}) }

func (r *recordReader) next() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *recordReader) blanks() []byte {
	from := r.at
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[from:r.at]
}

func (r *recordReader) want(c byte) {
	if r.at >= len(r.text) || r.text[r.at] != c {
		r.bad()
	}
	r.at++
}

// string passes a string and gives its raw text.
func (r *recordReader) string() string {
	r.want('"')
	from := r.at
	for ; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	raw := r.text[min(from, len(r.text)):min(r.at, len(r.text))]
	r.want('"')
	return string(raw)
}

// skip passes an array or object whatever stands in it: brackets of any kind are counted. A
// backslash escapes a quote outside of strings, too.
func (r *recordReader) skip(colon bool) {
	closer := r.text[r.at] + 2
	for depth := 0; ; {
		switch c := r.next(); c {
		case '"':
			r.string()
			continue
		case '\\':
			if next := r.text[r.at+1:]; len(next) > 0 && (next[0] == '"' || next[0] == '\\') {
				r.at++
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				r.want(closer)
				return
			}
		case ':':
			if colon && depth == 1 {
				r.bad() // of the members of an array in a record this one is looked at
			}
		}
		if r.at++; r.at >= len(r.text) {
			r.bad()
		}
	}
}

func (r *recordReader) scalar() kjson.ValueKind {
	from := r.at
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n,]}", r.text[r.at]) < 0 {
		r.at++
	}
	word := r.text[from:r.at]
	switch string(word) {
	case "null":
		return kjson.ValueNull
	case "false":
		return kjson.ValueFalse
	case "true":
		return kjson.ValueTrue
	}
	if len(word) == 0 || strings.IndexByte("-0123456789", word[0]) < 0 || !json.Valid(word) {
		r.bad()
	}
	return kjson.ValueNumber
}

func (r *recordReader) value(level int, i int32) (kind kjson.ValueKind) {
	switch c := r.next(); {
	case c == '"':
		r.string()
		return kjson.ValueString
	case c == '[':
		r.skip(level == 1)
		return kjson.ValueArray
	case c == '{' && level == 2:
		r.skip(false)
		return kjson.ValueObject
	case c == '{':
		r.object(2, i)
		return kjson.ValueObject
	}
	return r.scalar()
}

func (r *recordReader) object(level int, owner int32) {
	r.want('{')
	if r.blanks(); r.next() == '}' {
		r.at++
		return
	}
	for {
		i := int32(len(r.members))
		m := member{row: int32(len(r.open) - 1), owner: owner}
		r.blanks()
		m.keyAt = int64(r.at + 1)
		m.key = r.string()
		r.blanks()
		r.want(':')
		r.blanks()
		r.members = append(r.members, m)
		from := r.at
		kind := r.value(level, i)
		r.members[i].kind, r.members[i].at, r.members[i].value = kind, int64(from), string(r.text[from:r.at])
		r.blanks()
		if r.next() == '}' {
			r.at++
			return
		}
		r.want(',')
	}
}

// recordsOf gives nil if text is no run of records.
func recordsOf(text []byte, sep kjson.RecordSeparator) (x *recordList) {
	r := &recordReader{text: text}
	defer func() {
		if bad := recover(); bad != nil {
			if _, ok := bad.(*badRecords); !ok {
				panic(bad)
			}
			x = nil
		}
	}()
	for r.at < len(text) {
		r.open = append(r.open, int64(r.at))
		r.object(1, -1)
		r.close = append(r.close, int64(r.at-1))
		gap := r.blanks()
		if sep == kjson.RecordsComma {
			r.want(',')
			r.blanks()
		} else if bytes.IndexByte(gap, '\n') < 0 {
			r.bad()
		}
	}
	return &r.recordList
}
