package gml

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// promise is a simple type of XML Schema part 2 that the schema declares, and its column's type.
//
//	type                                    column                 a value that the column can't hold
//	string and everything else              string                 -
//	boolean                                 bool                   -
//	byte short int unsignedByte …Short      int32                  -
//	long unsignedInt                        int64                  -
//	unsignedLong                            int64                  beyond int64: all are text
//	integer and its kind                    int32, int64 if wider  beyond int64: all are text
//	decimal double float                    float64                -
//	date dateTime time                      as of any times        with a zone where a column has none: all are text
//
// An invalid value of the type is an error.
type promise struct {
	want  string             // what was expected
	kinds geoarrow.FactKinds // of the column if it has no value
	list  geoarrow.FactKinds // the same if the element may be repeated
	// facts of a column without values. xs:dateTime is not among them: only values tell whether it
	// has a zone
	empty geoarrow.FactKinds
	read  func(*scanner, *value) bool
}

const (
	textKinds  = geoarrow.FactString | geoarrow.FactInt32 // text, whatever its content
	textInList = geoarrow.FactListString
)

// whole is a type of integers.
type whole struct {
	low, high float64
	widest    number.Kind
}

func (w whole) promise(name string, kinds, list geoarrow.FactKinds) *promise {
	return &promise{
		want: "an integer, as the type is xs:" + name, kinds: kinds, list: list,
		read: func(s *scanner, v *value) bool { return s.integer(v, w) },
	}
}

func int32Promise(name string, low, high float64) *promise {
	return whole{low, high, number.Int32}.promise(name, geoarrow.FactInt32, geoarrow.FactListInt32)
}

func int64Promise(name string, w whole) *promise {
	return w.promise(name, geoarrow.FactInt64, geoarrow.FactListInt64)
}

func anyIntegerPromise(name string, low, high float64) *promise {
	return whole{low, high, number.Huge}.promise(name, geoarrow.FactInt32, geoarrow.FactListInt32)
}

func doublePromise(name string, read func(*scanner, *value) bool) *promise {
	return &promise{
		want: "a number, as the type is xs:" + name, kinds: geoarrow.FactFloat,
		list: geoarrow.FactListFloat, read: read,
	}
}

func timePromise(name, want string, empty geoarrow.FactKinds, kinds ...temporal.Kind) *promise {
	return &promise{want: want + ", as the type is xs:" + name, empty: empty, list: textInList, read: readTime(kinds)}
}

var textPromise = &promise{kinds: textKinds, list: textInList, read: readText}

// promises are the types by their names.
var promises = map[string]*promise{
	"string": textPromise, "normalizedString": textPromise, "token": textPromise, "language": textPromise,
	"Name": textPromise, "NCName": textPromise,
	"NMTOKEN": textPromise, "ID": textPromise, "IDREF": textPromise, "anyURI": textPromise, "QName": textPromise,
	"duration": textPromise, "gYear": textPromise,
	"gYearMonth": textPromise, "gMonth": textPromise, "gMonthDay": textPromise, "gDay": textPromise,
	"hexBinary": textPromise, "base64Binary": textPromise,

	"boolean": {
		want: "true, false, 1 or 0, as the type is xs:boolean", kinds: geoarrow.FactBool,
		list: geoarrow.FactListBool, read: readBoolean,
	},

	"byte":          int32Promise("byte", math.MinInt8, math.MaxInt8),
	"unsignedByte":  int32Promise("unsignedByte", 0, math.MaxUint8),
	"short":         int32Promise("short", math.MinInt16, math.MaxInt16),
	"unsignedShort": int32Promise("unsignedShort", 0, math.MaxUint16),
	"int":           int32Promise("int", math.MinInt32, math.MaxInt32),
	"unsignedInt":   int64Promise("unsignedInt", whole{0, math.MaxUint32, number.Int64}),
	"long":          int64Promise("long", whole{math.MinInt64, math.MaxInt64, number.Int64}),
	"unsignedLong":  int64Promise("unsignedLong", whole{0, math.MaxUint64, number.Uint64}),

	"integer":            anyIntegerPromise("integer", math.Inf(-1), math.Inf(1)),
	"nonNegativeInteger": anyIntegerPromise("nonNegativeInteger", 0, math.Inf(1)),
	"positiveInteger":    anyIntegerPromise("positiveInteger", 1, math.Inf(1)),
	"nonPositiveInteger": anyIntegerPromise("nonPositiveInteger", math.Inf(-1), 0),
	"negativeInteger":    anyIntegerPromise("negativeInteger", math.Inf(-1), -1),

	"decimal": doublePromise("decimal", readDecimal),
	"double":  doublePromise("double", readDouble),
	"float":   doublePromise("float", readDouble),

	"date":     timePromise("date", "a date", geoarrow.FactDate, temporal.Date),
	"dateTime": timePromise("dateTime", "a date and a time", 0, temporal.Naive, temporal.Zoned),
	"time":     timePromise("time", "a time of day", geoarrow.FactTime, temporal.Time),
}

// readText accepts any text.
func readText(_ *scanner, v *value) bool {
	v.kind = isText
	return true
}

func readBoolean(_ *scanner, v *value) bool {
	v.kind = isBool
	switch string(v.text) {
	case "true", "1":
		v.yes = true
	case "false", "0":
	default:
		return false
	}
	return true
}

// integer accepts an integer of a type. One beyond int64 is a text.
func (s *scanner) integer(v *value, w whole) bool {
	digits := bytes.TrimPrefix(v.text, []byte{'+'})
	out := s.digits[:0]
	if len(digits) == len(v.text) && digits[0] == '-' {
		digits = digits[1:]
		out = append(out, '-')
	}
	if len(digits) == 0 || len(bytes.TrimLeft(digits, "0123456789")) > 0 {
		return false
	}
	if digits = bytes.TrimLeft(digits, "0"); len(digits) == 0 {
		digits = []byte{'0'}
	}
	s.digits = append(append(out, digits...), make([]byte, number.Padding)...)
	n, end := number.Number(unsafe.Pointer(unsafe.SliceData(s.digits)), 0)
	if end < 0 { // beyond float64
		n.Kind = number.Huge
	}
	if n.Float < w.low || n.Float > w.high || n.Kind > w.widest {
		return false
	}
	v.kind, v.num = isNumber, n
	if n.Kind > number.Int64 {
		v.kind = isText
	}
	return true
}

// readDouble accepts a number, an infinity or a NaN of XML Schema.
func readDouble(s *scanner, v *value) bool {
	v.kind = isNumber
	switch string(v.text) {
	case "NaN":
		v.num = number.Num{Kind: number.Real, Float: nan}
		return true
	case "INF", "+INF":
		v.num = number.Num{Kind: number.Real, Float: math.Inf(1)}
		return true
	case "-INF":
		v.num = number.Num{Kind: number.Real, Float: math.Inf(-1)}
		return true
	}
	return readDecimal(s, v)
}

// readDecimal accepts a finite number.
func readDecimal(s *scanner, v *value) bool {
	f, end := number.Float(unsafe.Pointer(unsafe.SliceData(v.text)), 0)
	if end != len(v.text) {
		var why int
		if f, why = s.double(v.text); why >= 0 {
			return false
		}
	}
	v.kind, v.num = isNumber, number.Num{Kind: number.Real, Float: f}
	return true
}

// readTime accepts a date or a time of one of the kinds. In XML Schema dates and times of day may
// have a zone; their columns do not.
func readTime(kinds []temporal.Kind) func(*scanner, *value) bool {
	return func(_ *scanner, v *value) bool {
		v.kind = isText
		t, ok := temporal.Parse(v.text)
		if !ok {
			t, ok = temporal.Parse(withoutZone(v.text))
		}
		return ok && slices.Contains(kinds, t.Kind)
	}
}

// withoutZone returns a text without "Z" or an offset from UTC at its end.
func withoutZone(text []byte) []byte {
	if rest, ok := bytes.CutSuffix(text, []byte{'Z'}); ok {
		return rest
	}
	if n := len(text) - len("+01:00"); n > 0 && (text[n] == '+' || text[n] == '-') && text[n+3] == ':' {
		return text[:n]
	}
	return text
}
