package engine

// compiler translates the expressions above a scan to conditions.
type compiler struct {
	scan       *operator
	relation   *relation
	parameters map[string]int // columns of the arguments, by the identifiers of parameters
	path       []*operator    // from the scan to the current expression
}

// filter returns the condition of the operators above the scan, the root of the plan first. It
// stops at the first operator that is neither a filter nor a projection.
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
		c.path = append(c.path, o)
	}
	f.condition = allOf(conditions)
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
			return boxCondition{b}
		}
	}
	return nil
}

// operator translates IN, IS NULL and IS NOT NULL.
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
		return nullCondition{column: k, null: x.Type == "OPERATOR_IS_NULL"}
	}
	return nil
}

// mirrored are the comparisons with their sides exchanged. Others are not understood.
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
	k, as := c.comparedColumn(x.Input)
	low := &bound{c.operand(x.Lower, as), !x.FromLower}
	high := &bound{c.operand(x.Upper, as), !x.ToUpper}
	return newRangeCondition(k, as, low, high)
}

// compare translates the comparison of a column and a constant.
func (c *compiler) compare(column *expression, op string, with *expression) condition {
	k, as := c.comparedColumn(column)
	b := &bound{constant: c.operand(with, as)}
	switch op {
	case "COMPARE_EQUAL":
		return newRangeCondition(k, as, b, b)
	case "COMPARE_LESSTHAN", "COMPARE_GREATERTHAN":
		b.exclusive = true
	}
	switch op {
	case "COMPARE_LESSTHAN", "COMPARE_LESSTHANOREQUALTO":
		return newRangeCondition(k, as, nil, b)
	case "COMPARE_GREATERTHAN", "COMPARE_GREATERTHANOREQUALTO":
		return newRangeCondition(k, as, b, nil)
	}
	return nil
}

// column returns the number of the table's column that an expression is, or -1.
func (c *compiler) column(x *expression) int {
	if x.Class != "BOUND_REF" || x.Index == nil {
		return -1
	}
	i := *x.Index
	for at := len(c.path) - 1; at >= 0; at-- {
		if i = c.path[at].below(i); i < 0 {
			return -1
		}
	}
	k := c.scan.column(i)
	if k >= c.relation.schema.NumFields() {
		return -1
	}
	return k
}

// comparedColumn returns the column of an expression, and the comparator of its values. The
// comparator is nil if the expression is not a column, or does not keep the order of its values.
func (c *compiler) comparedColumn(x *expression) (k int, as *comparator) {
	cast := x.Class == "BOUND_CAST" && x.Child != nil && !x.TryCast
	ref := x
	if cast {
		ref = x.Child
	}
	if k = c.column(ref); k < 0 {
		return -1, nil
	}
	as = comparatorOf(c.relation.schema.Field(k).Type)
	if as == nil || typeFamilyOf(ref.ReturnType) != as.family {
		return -1, nil
	}
	if cast {
		as = as.cast(x.ReturnType)
	}
	return k, as
}

// operand returns the constant of an expression as a value. The value of a parameter is known with
// the arguments.
func (c *compiler) operand(x *expression, as *comparator) func(args arguments) value {
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
