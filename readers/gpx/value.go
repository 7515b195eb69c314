package gpx

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// text reads the text of the element whose start tag was read as a value that is valid until the
// row ends. start is the index of its first byte, without blanks if it is trimmed.
func (s *scanner) text(trimmed bool) (b []byte, start int, ok bool) {
	start = s.X.P
	b, _, ok = s.X.Value()
	if !ok {
		return nil, 0, false
	}
	if trimmed {
		for len(b) > 0 && isBlank(b[0]) {
			b = b[1:]
			start++
		}
		b = trim(b)
	}
	return s.keep(b), start, true
}

// trim returns b without blanks of XML around it.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// keep returns a text of the XML scanner that is valid until the row ends.
func (s *scanner) keep(b []byte) []byte {
	if s.X.InWindow(b) || len(b) == 0 {
		return b
	}
	from := len(s.row.decoded)
	s.row.decoded = append(s.row.decoded, b...)
	return s.row.decoded[from:]
}

// value reads the element whose start tag was read into its leading column. Of several elements the
// last one that has a value counts.
func (s *scanner) value(c column) bool {
	kind := leading[c].kind
	b, start, ok := s.text(kind != kindText)
	if !ok {
		return false
	}
	if len(b) == 0 {
		return true
	}
	v := value{text: b}
	rule, want := "", ""
	switch kind {
	case kindDecimal:
		rule, want = decimalRule, "a decimal number"
		v.num.Float, ok = s.decimalOrRepair(b, start, leading[c].name)
	case kindInteger:
		rule, want = "GPX 1.1, xsd:integer", "an integer within the range of int64"
		v.num, ok = s.integer(b)
	case kindTime:
		rule, want = "GPX 1.1, xsd:dateTime", "a date and time such as 2025-03-31T13:45:00Z"
		s.row.time, ok = s.dateTime(b, start)
	}
	if !ok {
		return s.Expect(start, leading[c].name, rule, want) || s.nullValue(start, c)
	}
	s.row.set(c, v)
	return true
}

const decimalRule = "GPX 1.1, xsd:decimal"

// nullValue makes the value of a column with the current fault null, if on_error says so.
func (s *scanner) nullValue(p int, c column) bool {
	if s.nulls {
		s.deviate(p, leading[c].name, ruleValue, doneNull)
		s.Field = ""
	}
	return s.nulls
}

// dateTime reads an xsd:dateTime. One without a zone is in UTC, as all times of GPX. An offset may
// lack its colon or its minutes, which is counted.
func (s *scanner) dateTime(b []byte, start int) (t temporal.Value, ok bool) {
	t, ok = temporal.Parse(b)
	switch {
	case !ok || isDateTime(b, &t):
		return t, ok
	case hasDateTime(b, &t):
		s.deviate(start, leading[columnTime].name, ruleZone, doneZone)
		return t, true
	case !s.repairs || t.Kind == temporal.Time:
		return t, false
	}
	s.deviate(start, leading[columnTime].name, ruleTime, doneTime)
	return t, true
}

// decimalOrRepair reads an xsd:decimal at an index. If defects are repaired, it may have an exponent.
func (s *scanner) decimalOrRepair(b []byte, start int, field string) (v float64, ok bool) {
	if v, ok = s.decimal(b); !ok && s.repairs {
		if v, ok = s.float(b); ok {
			s.deviate(start, field, ruleExponent, doneRead)
		}
	}
	return v, ok
}

// decimal reads an xsd:decimal.
func (s *scanner) decimal(b []byte) (float64, bool) {
	for _, c := range b {
		if c > '9' { // an exponent
			return 0, false
		}
	}
	return s.float(b)
}

// float reads a number of XML Schema, which may have a plus, leading zeros, or no digit on one side
// of the point.
func (s *scanner) float(b []byte) (float64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	if s.X.InWindow(b) {
		if v, end := number.Float(unsafe.Pointer(&b[0]), 0); end == len(b) {
			return v, true
		}
	}
	text, ok := s.normal(b)
	if !ok {
		return 0, false
	}
	v, end := number.Float(unsafe.Pointer(&text[0]), 0)
	return v, end == len(text)-number.Padding
}

// integer reads an xsd:integer.
func (s *scanner) integer(b []byte) (number.Num, bool) {
	text, ok := s.normal(b)
	if !ok {
		return number.Num{}, false
	}
	n, end := number.Number(unsafe.Pointer(&text[0]), 0)
	return n, end == len(text)-number.Padding && n.Kind <= number.Int64
}

// plainNumber reads a text that is a number, in the syntax of JSON: others, such as 007, may be
// codes.
func (s *scanner) plainNumber(b []byte) (number.Num, bool) {
	b = trim(b)
	if len(b) == 0 || b[0] != '-' && b[0]-'0' > 9 {
		return number.Num{}, false
	}
	s.digits = append(append(s.digits[:0], b...), padding[:]...)
	n, end := number.Number(unsafe.Pointer(&s.digits[0]), 0)
	return n, end == len(b) && n.Kind <= number.Real && n.Kind != number.Huge
}

var padding [number.Padding]byte

// normal returns a number of XML Schema in JSON's syntax, with padding. ok is false if it has no
// digit.
func (s *scanner) normal(b []byte) (text []byte, ok bool) {
	dst := s.digits[:0]
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		if b[i] == '-' {
			dst = append(dst, '-')
		}
		i++
	}
	from := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	ok = i > from
	for from < i-1 && b[from] == '0' {
		from++
	}
	if dst = append(dst, b[from:i]...); !ok {
		dst = append(dst, '0')
	}
	if i < len(b) && b[i] == '.' {
		from = i
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
		}
		ok = ok || i > from+1
		if i > from+1 {
			dst = append(dst, b[from:i]...)
		}
	}
	dst = append(append(dst, b[i:]...), padding[:]...)
	s.digits = dst
	return dst, ok
}

// isDateTime reports whether a date and time is an xsd:dateTime.
func isDateTime(b []byte, t *temporal.Value) bool {
	return hasDateTime(b, t) && (t.Kind == temporal.Naive || b[len(b)-1] == 'Z' || b[len(b)-3] == ':')
}

// hasDateTime reports whether a date and time is an xsd:dateTime, except perhaps for its zone.
func hasDateTime(b []byte, t *temporal.Value) bool {
	const dateTime = "2006-01-02T15:04:05"
	return (t.Kind == temporal.Zoned || t.Kind == temporal.Naive) && len(b) >= len(dateTime) && b[4] == '-' &&
		b[10] == 'T' && b[16] == ':'
}
