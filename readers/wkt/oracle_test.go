package wkt_test

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// oracle reads one geometry slowly and plainly, with regular expressions, a token at a time into a
// tree, and writes it again as geoarrow does. It shares no code with the parser, and knows nothing
// of offsets.
func oracle(text string) (wkt string, srid int, err error) {
	o := &oracleReader{}
	for rest := text; ; {
		m := oracleToken.FindStringSubmatch(rest)
		if m == nil {
			if strings.Trim(rest, oracleBlanks) != "" {
				return "", 0, errOracle
			}
			break
		}
		rest = rest[len(m[0]):]
		o.tokens = append(o.tokens, m[1])
		o.glued = append(o.glued, strings.TrimLeft(m[0], oracleBlanks) == m[0])
	}
	if strings.EqualFold(o.peek(0), "SRID") {
		if o.peek(1) != "=" || o.peek(3) != ";" || !oracleDigits.MatchString(o.peek(2)) {
			return "", 0, errOracle
		}
		n, err := strconv.ParseInt(o.peek(2), 10, 32)
		if err != nil {
			return "", 0, err
		}
		srid = int(n)
		o.tokens, o.glued = o.tokens[4:], o.glued[4:]
	}
	g := o.geometry(0)
	if o.failed || len(o.tokens) > 0 {
		return "", 0, errOracle
	}
	return g.text(g.union()), srid, nil
}

var (
	errOracle    = errors.New("no geometry")
	oracleBlanks = " \t\n\v\f\r"
	oracleToken  = regexp.MustCompile(`^[ \t\n\v\f\r]*([A-Za-z]+|[(),=;]|[-+.0-9][-+.0-9A-Za-z]*)`)
	oracleNumber = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	oracleNaN    = regexp.MustCompile(`(?i)^[-+]?nan$`)
	oracleInf    = regexp.MustCompile(`(?i)^[-+]?inf(inity)?$`)
	oracleDigits = regexp.MustCompile(`^[0-9]+$`)
	oracleHead   = regexp.MustCompile(`^(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION)(Z?M?)$`)
)

type oracleReader struct {
	tokens []string
	glued  []bool // no blank is before the token
	failed bool
}

// shape is a geometry, or a bracket inside of one.
type shape struct {
	kind    string
	dim     geoarrow.Dim
	members []*shape // of a collection, or brackets
	at      [][]float64
}

func (o *oracleReader) peek(i int) string {
	if i < len(o.tokens) {
		return o.tokens[i]
	}
	return ""
}

func (o *oracleReader) next() string {
	t := o.peek(0)
	if t == "" {
		o.failed = true
		return ""
	}
	o.tokens, o.glued = o.tokens[1:], o.glued[1:]
	return t
}

func (o *oracleReader) want(t string) {
	if o.next() != t {
		o.failed = true
	}
}

func (o *oracleReader) empty() bool {
	if strings.EqualFold(o.peek(0), "EMPTY") {
		o.next()
		return true
	}
	return false
}

// list reads elements in brackets, or EMPTY.
func (o *oracleReader) list(element func()) {
	if o.empty() {
		return
	}
	for o.want("("); !o.failed; {
		element()
		if o.peek(0) != "," {
			break
		}
		o.next()
	}
	o.want(")")
}

var oracleDims = map[string]geoarrow.Dim{"Z": geoarrow.XYZ, "M": geoarrow.XYM, "ZM": geoarrow.XYZM}

func (o *oracleReader) geometry(outer geoarrow.Dim) *shape {
	head := oracleHead.FindStringSubmatch(strings.ToUpper(o.next()))
	if head == nil {
		o.failed = true
		return &shape{}
	}
	g := &shape{kind: head[1]}
	dim, tagged := oracleDims[head[2]]
	if !tagged {
		if dim, tagged = oracleDims[strings.ToUpper(o.peek(0))]; tagged {
			o.next()
		}
	}
	g.dim = dim
	if g.kind == "GEOMETRYCOLLECTION" {
		o.list(func() { g.members = append(g.members, o.geometry(dim)) })
		return g
	}
	size := 0
	if tagged {
		size = dim.Size()
	}
	position := func() []float64 {
		var v []float64
		for first := true; ; first = false {
			t := o.peek(0)
			if t == "" || strings.Contains("(),=;", t) || !first && o.glued[0] {
				break
			}
			v = append(v, o.number(o.next()))
		}
		if len(v) < 2 || len(v) > 4 || size != 0 && len(v) != size {
			o.failed = true
			return v
		}
		if size == 0 {
			size = len(v)
			g.dim = [...]geoarrow.Dim{2: geoarrow.XY, 3: geoarrow.XYZ, 4: geoarrow.XYZM}[size]
			if size == 3 && outer == geoarrow.XYM {
				g.dim = outer
			}
		}
		return v
	}
	line := func() *shape {
		s := &shape{}
		o.list(func() { s.at = append(s.at, position()) })
		return s
	}
	polygon := func() *shape {
		s := &shape{}
		o.list(func() { s.members = append(s.members, line()) })
		return s
	}
	switch g.kind {
	case "POINT":
		if g.at = line().at; len(g.at) > 1 {
			o.failed = true
		}
	case "LINESTRING":
		g.at = line().at
	case "MULTIPOINT":
		o.list(func() {
			switch {
			case o.empty():
				g.at = append(g.at, []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()})
			case o.peek(0) == "(":
				o.next()
				g.at = append(g.at, position())
				o.want(")")
			default:
				g.at = append(g.at, position())
			}
		})
	case "POLYGON", "MULTILINESTRING":
		g.members = polygon().members
	case "MULTIPOLYGON":
		o.list(func() { g.members = append(g.members, polygon()) })
	}
	return g
}

func (o *oracleReader) number(t string) float64 {
	switch {
	case oracleNaN.MatchString(t):
		return math.NaN()
	case oracleInf.MatchString(t):
		return math.Inf(map[bool]int{true: -1, false: 1}[t[0] == '-'])
	case !oracleNumber.MatchString(t):
		o.failed = true
		return 0
	}
	v, err := strconv.ParseFloat(t, 64)
	if err != nil {
		o.failed = true
	}
	return v
}

// union returns the dimension of a row.
func (s *shape) union() geoarrow.Dim {
	d := s.dim
	for _, m := range s.members {
		d |= m.union()
	}
	return d
}

// text writes a geometry with its name; what is in a collection has the dimension of the row.
func (s *shape) text(row geoarrow.Dim) string {
	head := s.kind + map[geoarrow.Dim]string{
		geoarrow.XY: " ", geoarrow.XYZ: " Z ", geoarrow.XYM: " M ",
		geoarrow.XYZM: " ZM ",
	}[row]
	if s.kind == "GEOMETRYCOLLECTION" {
		return head + commas(s.members, func(m *shape) string { return m.text(row) })
	}
	return head + s.body(s.kind, s.dim, row)
}

func commas[T any](elements []T, text func(T) string) string {
	var all []string
	for _, e := range elements {
		all = append(all, text(e))
	}
	if all == nil {
		return "EMPTY"
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// body writes what follows the name.
func (s *shape) body(kind string, own, row geoarrow.Dim) string {
	position := func(v []float64) string {
		out := numberText(v[0]) + " " + numberText(v[1])
		z, m := math.NaN(), math.NaN()
		switch own {
		case geoarrow.XYZ:
			z = v[2]
		case geoarrow.XYM:
			m = v[2]
		case geoarrow.XYZM:
			z, m = v[2], v[3]
		}
		if row&geoarrow.HasZ != 0 {
			out += " " + numberText(z)
		}
		if row&geoarrow.HasM != 0 {
			out += " " + numberText(m)
		}
		return out
	}
	point := func(v []float64) string {
		p := position(v)
		if strings.Trim(p, "an ") == "" {
			return "EMPTY"
		}
		return "(" + p + ")"
	}
	switch {
	case kind == "POINT" && len(s.at) == 1:
		return point(s.at[0])
	case kind == "MULTIPOINT":
		return commas(s.at, point)
	case s.members == nil:
		return commas(s.at, position)
	}
	return commas(s.members, func(m *shape) string { return m.body("", own, row) })
}

func numberText(v float64) string {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	case abs >= 1e21, abs < 1e-6 && abs > 0:
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
