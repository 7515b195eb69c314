package engine

import (
	"github.com/apache/arrow/go/v17/arrow"
)

// condition reports whether any row of a batch may be one for which an expression is true. nil is the condition of an expression that is not understood: there
// may be such rows in every batch.
type condition func(b *view) bool

// filter is what a query asks of the rows of a table.
type filter struct {
	may   condition // nil: nothing is asked, or nothing that is understood
	boxes []box     // that the geometry's bounding box meets, all of them
}

// either is what rows fulfil that fulfil one of several filters.
func either(each []filter) filter {
	if len(each) == 1 {
		return each[0]
	}
	conditions := make([]condition, len(each))
	for i, f := range each {
		conditions[i] = f.may
	}
	return filter{may: anyOf(conditions)}
}

// allOf is the condition of a conjunction.
func allOf(conditions []condition) condition {
	var known []condition
	for _, c := range conditions {
		if c != nil {
			known = append(known, c)
		}
	}
	if len(known) == 0 {
		return nil
	}
	return func(b *view) bool {
		for _, c := range known {
			if !c(b) {
				return false
			}
		}
		return true
	}
}

// anyOf is the condition of a disjunction.
func anyOf(conditions []condition) condition {
	for _, c := range conditions {
		if c == nil {
			return nil
		}
	}
	return func(b *view) bool {
		for _, c := range conditions {
			if c(b) {
				return true
			}
		}
		return false
	}
}

// compiler makes conditions of the expressions above a scan.
type compiler struct {
	scan       *operator
	relation   *relation
	parameters map[string]int // columns of the arguments, by the identifiers of parameters
	through    []*operator    // between the scan, which comes first, and the expression at hand
}

// filter gives what the operators above the scan ask of its rows, the root of the plan first: as far up as there are filters and projections only.
func (c *compiler) filter(above []*operator) filter {
	var f filter
	var conditions []condition
	for i := len(above) - 1; i >= 0; i-- {
		o := above[i]
		if o.Type != "LOGICAL_FILTER" && o.Type != "LOGICAL_PROJECTION" {
			break
		}
		if o.Type == "LOGICAL_FILTER" {
			for k := range o.Expressions {
				conditions = append(conditions, c.condition(&o.Expressions[k]))
				if b := c.meets(&o.Expressions[k]); b != nil {
					f.boxes = append(f.boxes, b)
				}
			}
		}
		c.through = append(c.through, o)
	}
	f.may = allOf(conditions)
	return f
}

func (c *compiler) condition(x *expression) condition {
	switch x.Class {
	case "BOUND_CONJUNCTION":
		conditions := make([]condition, len(x.Children))
		for i := range x.Children {
			conditions[i] = c.condition(&x.Children[i])
		}
		if x.Type == "CONJUNCTION_AND" {
			return allOf(conditions)
		}
		return anyOf(conditions)
	case "BOUND_COMPARISON":
		return c.comparison(x)
	case "BOUND_BETWEEN":
		return c.between(x)
	case "BOUND_OPERATOR":
		return c.operator(x)
	case "BOUND_FUNCTION":
		if b := c.meets(x); b != nil {
			return func(v *view) bool {
				wanted := b(v.args)
				return wanted == nil || v.meets(*wanted)
			}
		}
	}
	return nil
}

// operator is the condition of IN, IS NULL and IS NOT NULL.
func (c *compiler) operator(x *expression) condition {
	if len(x.Children) == 0 {
		return nil
	}
	switch x.Type {
	case "COMPARE_IN":
		var equals []condition
		for i := range x.Children[1:] {
			equals = append(equals, c.compare(&x.Children[0], "COMPARE_EQUAL", &x.Children[1+i]))
		}
		return anyOf(equals)
	case "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL":
		k := c.column(&x.Children[0])
		if k < 0 {
			return nil
		}
		if x.Type == "OPERATOR_IS_NULL" {
			return func(b *view) bool { return b.nulls(k) > 0 }
		}
		return func(b *view) bool { return b.nulls(k) < b.columns.Rows }
	}
	return nil
}

// mirrored are the comparisons with their sides exchanged; others are not understood.
var mirrored = map[string]string{
	"COMPARE_EQUAL":                "COMPARE_EQUAL",
	"COMPARE_LESSTHAN":             "COMPARE_GREATERTHAN",
	"COMPARE_LESSTHANOREQUALTO":    "COMPARE_GREATERTHANOREQUALTO",
	"COMPARE_GREATERTHAN":          "COMPARE_LESSTHAN",
	"COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO",
}

func (c *compiler) comparison(x *expression) condition {
	if x.Left == nil || x.Right == nil {
		return nil
	}
	if is := c.compare(x.Left, x.Type, x.Right); is != nil {
		return is
	}
	return c.compare(x.Right, mirrored[x.Type], x.Left)
}

func (c *compiler) between(x *expression) condition {
	if x.Input == nil || x.Lower == nil || x.Upper == nil {
		return nil
	}
	from, to := "COMPARE_GREATERTHAN", "COMPARE_LESSTHAN"
	if x.FromLower {
		from = "COMPARE_GREATERTHANOREQUALTO"
	}
	if x.ToUpper {
		to = "COMPARE_LESSTHANOREQUALTO"
	}
	return allOf([]condition{c.compare(x.Input, from, x.Lower), c.compare(x.Input, to, x.Upper)})
}

// compare is the condition of a column beside a constant.
func (c *compiler) compare(column *expression, op string, with *expression) condition {
	if mirrored[op] == "" {
		return nil
	}
	k, as := c.ordered(column)
	constant := c.operand(with, as)
	if as == nil || constant == nil {
		return nil
	}
	return func(b *view) bool {
		v := constant(b.args)
		if v == nil {
			return true
		}
		in, ok := b.limits(k, as)
		if !ok {
			return true
		}
		if in.none {
			return false
		}
		below, above := in.low == nil || in.low.compare(v) < 0, in.high == nil || in.high.compare(v) > 0 // there may be lesser, greater values
		low, high := below || in.low.compare(v) == 0, above || in.high.compare(v) == 0
		switch op {
		case "COMPARE_LESSTHAN":
			return below
		case "COMPARE_LESSTHANOREQUALTO":
			return low
		case "COMPARE_GREATERTHAN":
			return above
		case "COMPARE_GREATERTHANOREQUALTO":
			return high
		}
		return low && high
	}
}

// column is the number in the table of the column that an expression is, or -1.
func (c *compiler) column(x *expression) int {
	if x.Class != "BOUND_REF" || x.Index == nil {
		return -1
	}
	i := *x.Index
	for at := len(c.through) - 1; at >= 0; at-- {
		if i = c.through[at].below(i); i < 0 {
			return -1
		}
	}
	k := c.scan.column(i)
	if k >= c.relation.schema.NumFields() {
		return -1
	}
	return k
}

// ordered gives the column that an expression is, and how its values compare there; nil if it is none, or is changed in a way that does not keep their order.
func (c *compiler) ordered(x *expression) (k int, as *scale) {
	cast := x.Class == "BOUND_CAST" && x.Child != nil && !x.TryCast
	ref := x
	if cast {
		ref = x.Child
	}
	if k = c.column(ref); k < 0 {
		return -1, nil
	}
	as = scaleOf(c.relation.schema.Field(k).Type)
	if as == nil || familyOf(ref.ReturnType) != as.family {
		return -1, nil
	}
	if cast {
		as = as.cast(x.ReturnType)
	}
	return k, as
}

// operand gives the constant that an expression is, on a scale; for a parameter, that is when the arguments are known.
func (c *compiler) operand(x *expression, as *scale) func(args arguments) value {
	if as == nil {
		return nil
	}
	switch x.Class {
	case "BOUND_CONSTANT":
		if x.Value == nil || x.Value.IsNull {
			return nil
		}
		v := as.constant(*x.Value)
		if v == nil {
			return nil
		}
		return func(arguments) value { return v }
	case "BOUND_PARAMETER":
		i, ok := c.parameters[x.Identifier]
		if !ok {
			return nil
		}
		return func(args arguments) value { return as.argument(args.column(i), args.row) }
	}
	return nil
}

// arguments are the values of the parameters: a row of a record, which is nil where there are none.
type arguments struct {
	of  arrow.Record
	row int
}

func (a arguments) column(i int) arrow.Array {
	if a.of == nil || i >= int(a.of.NumCols()) {
		return nil
	}
	return a.of.Column(i)
}
