package cql2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Type is the type of an expression.
type Type uint8

// Types of expressions.
const (
	OtherType   Type = iota // of properties that filters can't compare, such as lists
	NullType                // of properties without any value
	BooleanType             //
	NumberType
	StringType
	DateType
	TimestampType // without a zone
	InstantType   // a timestamp with a zone
	GeometryType
)

func (t Type) String() string {
	return [...]string{
		"a value that filters can't compare", "null", "a boolean", "a number", "a text", "a date", "a timestamp",
		"a timestamp", "a geometry",
	}[t]
}

// Schema describes the features that a filter is for.
type Schema struct {
	// TypeOf returns the type of a property.
	TypeOf func(name string) (Type, bool)
	// Place converts a literal geometry to the reference system of the features. It may return
	// several geometries, of which a feature has to meet one.
	Place func(Shape) ([]Shape, error)
	// Spatial means that SQL has the functions of DuckDB's spatial extension.
	Spatial bool
}

// Predicate is a condition on features: all of Boxes, and SQL.
type Predicate struct {
	Boxes [][]Rect // a geometry has to meet one box of each list
	// SQL is an expression without names of the filter; empty: true. Its columns are c0, c1, … for
	// Columns, b0, b1, … for Tests, and geometry if Shapes is set.
	SQL     string
	Columns []string // properties
	// Tests are boolean columns: whether the geometry meets one of some boxes, and null for a null
	// geometry.
	Tests  [][]Rect
	Shapes bool
}

// Rect is xmin, ymin, xmax, ymax. Its bounds are inside, and it may be a point.
type Rect = [4]float64

// Compile checks the types of a filter, and returns its predicate. Errors are *Error, and those of
// Schema.Place.
func Compile(n *Node, s Schema) (*Predicate, error) {
	c := &compiler{schema: s}
	var terms []string
	for _, n := range conjuncts(nil, n) {
		if n.Op == "s_intersects" {
			boxes, ok, err := c.boxes(n)
			if err != nil {
				return nil, err
			}
			if ok {
				c.out.Boxes = append(c.out.Boxes, boxes)
				continue
			}
		}
		sql, err := c.condition(n)
		if err != nil {
			return nil, err
		}
		terms = append(terms, sql)
		if spatial[n.Op] != "" && n.Op != "s_disjoint" {
			c.addBounds(n)
		}
	}
	c.out.SQL = strings.Join(terms, " AND ")
	return &c.out, nil
}

// conjuncts appends the conditions that all have to be true.
func conjuncts(all []*Node, n *Node) []*Node {
	if n.Op != "and" {
		return append(all, n)
	}
	for _, a := range n.Args {
		all = conjuncts(all, a)
	}
	return all
}

type compiler struct {
	schema Schema
	out    Predicate
}

// condition returns the SQL of an expression that is true or false.
func (c *compiler) condition(n *Node) (string, error) {
	switch n.Op {
	case "and", "or":
		terms := make([]string, len(n.Args))
		for i, a := range n.Args {
			var err error
			if terms[i], err = c.condition(a); err != nil {
				return "", err
			}
		}
		return "(" + strings.Join(terms, " "+strings.ToUpper(n.Op)+" ") + ")", nil
	case "not":
		sql, err := c.condition(n.Args[0])
		return "(NOT " + sql + ")", err
	}
	sql, t, err := c.value(n)
	if err == nil && t != BooleanType && t != NullType {
		err = errorAt(n.At, "it is %v, where a condition is expected", t)
	}
	return sql, err
}

// value returns the SQL and the type of any expression.
func (c *compiler) value(n *Node) (string, Type, error) {
	switch n.Op {
	case Property:
		return c.property(n)
	case Number:
		sql, err := numberSQL(n)
		return sql, NumberType, err
	case String:
		sql, err := stringSQL(n)
		return sql, StringType, err
	case Boolean:
		return n.Text, BooleanType, nil
	case Date:
		at, err := time.Parse(time.DateOnly, n.Text)
		if err != nil {
			return "", DateType, errorAt(n.At, "%.40q is not a date, as 2026-05-01", n.Text)
		}
		return "DATE '" + at.Format(time.DateOnly) + "'", DateType, nil
	case Timestamp:
		at, err := time.Parse(time.RFC3339Nano, n.Text)
		if err != nil {
			return "", TimestampType, errorAt(n.At, "%.40q is not a timestamp, as 2026-05-01T06:30:00Z", n.Text)
		}
		return "TIMESTAMP '" + at.UTC().Format(timestampLayout) + "'", TimestampType, nil
	case Geometry:
		return "", GeometryType, nil
	case "and", "or", "not":
		sql, err := c.condition(n)
		return sql, BooleanType, err
	case "=", "<>", "<", ">", "<=", ">=":
		values, t, err := c.comparable(n)
		if err != nil {
			return "", t, err
		}
		if t == BooleanType && n.Op != "=" && n.Op != "<>" {
			return "", t, errorAt(n.At, "booleans have no order")
		}
		return fmt.Sprintf("(%s %s %s)", values[0], n.Op, values[1]), BooleanType, nil
	case "between":
		v, _, err := c.comparable(n)
		if err != nil {
			return "", BooleanType, err
		}
		return fmt.Sprintf("(%s BETWEEN %s AND %s)", v[0], v[1], v[2]), BooleanType, nil
	case "in":
		v, _, err := c.comparable(n)
		if err != nil {
			return "", BooleanType, err
		}
		return fmt.Sprintf("(%s IN (%s))", v[0], strings.Join(v[1:], ", ")), BooleanType, nil
	case "isNull":
		return c.isNull(n)
	case "like":
		return c.like(n)
	case "casei", "accenti":
		return c.folded(n)
	case "+", "-", "*", "/", "%", "div", "^":
		return c.arithmetic(n)
	}
	if spatial[n.Op] != "" {
		sql, err := c.space(n)
		return sql, BooleanType, err
	}
	return "", OtherType, errorAt(n.At, "there is no function or operator %.40q", n.Op)
}

// timestampLayout is that of SQL.
const timestampLayout = "2006-01-02 15:04:05.999999999"

func (c *compiler) property(n *Node) (string, Type, error) {
	t, ok := c.schema.TypeOf(n.Text)
	switch {
	case !ok:
		return "", t, errorAt(n.At, "there is no property %.100q", n.Text)
	case t == GeometryType:
		return "", t, nil
	case t == NullType:
		return "CAST(NULL AS BOOLEAN)", t, nil
	}
	i := slices.Index(c.out.Columns, n.Text)
	if i < 0 {
		i = len(c.out.Columns)
		c.out.Columns = append(c.out.Columns, n.Text)
	}
	return "c" + strconv.Itoa(i), t, nil
}

// numberSQL returns the SQL of a number: an integer, or a double with exactly its digits.
func numberSQL(n *Node) (string, error) {
	if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		return "(" + strconv.FormatInt(i, 10) + ")", nil
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return "", errorAt(n.At, "%.40q is out of the range of numbers", n.Text)
	}
	return "'" + strconv.FormatFloat(f, 'g', -1, 64) + "'::DOUBLE", nil
}

// stringSQL returns the SQL of a text.
func stringSQL(n *Node) (string, error) {
	if !utf8.ValidString(n.Text) || strings.ContainsRune(n.Text, 0) {
		return "", errorAt(n.At, "the text is not valid UTF-8, or has a zero byte")
	}
	return "'" + strings.ReplaceAll(n.Text, "'", "''") + "'", nil
}

// comparable returns the SQL of the operands of a comparison, and their common type.
func (c *compiler) comparable(n *Node) (values []string, common Type, err error) {
	types := make([]Type, len(n.Args))
	values = make([]string, len(n.Args))
	common = NullType
	for i, a := range n.Args {
		if values[i], types[i], err = c.value(a); err != nil {
			return nil, common, err
		}
		var ok bool
		before := common
		if types[i] == StringType && a.Op == String && isTime(common) { // as GDAL writes times
			values[i], types[i] = timeLiteral(a)
		}
		if common, ok = join(common, types[i]); !ok {
			return nil, common, errorAt(a.At, "it is %v, and is compared with %v", types[i], before)
		}
	}
	for i, a := range n.Args { // of one type, whatever DuckDB would convert
		switch {
		case types[i] == NullType && common != NullType:
			values[i] = "NULL"
		case types[i] == common || common != InstantType && common != TimestampType:
		case a.Op == Date || a.Op == Timestamp || a.Op == String:
			values[i] = converted(values[i], common)
		case common == InstantType:
			return nil, common, errorAt(a.At, "%s is compared with a timestamp with a zone, and has none", a.Text)
		}
	}
	return values, common, nil
}

// converted returns a literal of a date or a timestamp as one of a timestamp.
func converted(literal string, to Type) string {
	_, text, _ := strings.Cut(literal, " ")
	text = strings.Trim(text, "'")
	if len(text) == len(time.DateOnly) {
		text += " 00:00:00"
	}
	if to == InstantType {
		return "TIMESTAMPTZ '" + text + "+00'"
	}
	return "TIMESTAMP '" + text + "'"
}

func isTime(t Type) bool { return t == DateType || t == TimestampType || t == InstantType }

// timeLiteral returns the SQL of a text that is compared with a time; it stays a text if it is not one.
func timeLiteral(n *Node) (string, Type) {
	if at, err := time.Parse(time.DateOnly, strings.TrimSuffix(n.Text, "T")); err == nil { // GDAL writes 2026-05-01T
		return "DATE '" + at.Format(time.DateOnly) + "'", DateType
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, n.Text); err == nil {
			return "TIMESTAMP '" + at.UTC().Format(timestampLayout) + "'", TimestampType
		}
	}
	return "", StringType
}

// join returns the type that values of two types are compared in.
func join(a, b Type) (Type, bool) {
	switch {
	case b == OtherType || b == GeometryType:
		return a, false
	case a == NullType || a == b:
		return b, true
	case b == NullType:
		return a, true
	case isTime(a) && isTime(b):
		return max(a, b), true
	}
	return a, false
}

func (c *compiler) isNull(n *Node) (string, Type, error) {
	sql, t, err := c.value(n.Args[0])
	switch {
	case err != nil:
		return "", BooleanType, err
	case t == GeometryType && n.Args[0].Op == Property:
		c.out.Shapes = true
		sql = "geometry"
	case t == GeometryType:
		return "false", BooleanType, nil
	}
	return "(" + sql + " IS NULL)", BooleanType, nil
}

// folded returns a text without differences of case or of accents.
func (c *compiler) folded(n *Node) (string, Type, error) {
	sql, t, err := c.value(n.Args[0])
	if err != nil {
		return "", t, err
	}
	if t != StringType && t != NullType {
		return "", t, errorAt(n.Args[0].At, "it is %v, where a text is expected", t)
	}
	if n.Op == "casei" {
		return "lower(" + sql + ")", t, nil
	}
	return "strip_accents(" + sql + ")", t, nil
}

func (c *compiler) like(n *Node) (string, Type, error) {
	var values [2]string
	for i, a := range n.Args {
		sql, t, err := c.value(a)
		if err != nil {
			return "", t, err
		}
		if t != StringType && (i > 0 || t != NullType) {
			return "", t, errorAt(a.At, "it is %v, where a text is expected", t)
		}
		if t == NullType {
			sql = "CAST(NULL AS VARCHAR)"
		}
		values[i] = sql
	}
	literal := n.Args[1]
	for literal.Op == "casei" || literal.Op == "accenti" {
		literal = literal.Args[0]
	}
	if literal.Op != String {
		return "", BooleanType, errorAt(literal.At, "the pattern of LIKE has to be a literal")
	}
	backslashes := len(literal.Text) - len(strings.TrimRight(literal.Text, `\`))
	if backslashes%2 == 1 {
		return "", BooleanType, errorAt(literal.At, "the pattern ends with a backslash that escapes nothing")
	}
	return fmt.Sprintf(`(%s LIKE %s ESCAPE '\')`, values[0], values[1]), BooleanType, nil
}

// arithmetic computes with doubles, which do not overflow.
func (c *compiler) arithmetic(n *Node) (string, Type, error) {
	var v [2]string
	for i, a := range n.Args {
		sql, t, err := c.value(a)
		if err != nil {
			return "", t, err
		}
		if t != NumberType && t != NullType {
			return "", t, errorAt(a.At, "it is %v, where a number is expected", t)
		}
		v[i] = "CAST(" + sql + " AS DOUBLE)"
	}
	switch n.Op {
	case "div":
		return fmt.Sprintf("trunc(%s / %s)", v[0], v[1]), NumberType, nil
	case "^":
		return fmt.Sprintf("pow(%s, %s)", v[0], v[1]), NumberType, nil
	}
	return fmt.Sprintf("(%s %s %s)", v[0], n.Op, v[1]), NumberType, nil
}
