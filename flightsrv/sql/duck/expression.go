package duck

import (
	"slices"
	"strings"
)

// Expression is what a scalar expression reads and calls.
type Expression struct {
	Columns   []string // the first parts of the names in it
	Functions []string // in lower case, with operators
}

// scalarClasses are the nodes of expressions whose values depend on a row alone, if their functions
// do. Others are subqueries, aggregates over windows, parameters, stars and lambdas.
var scalarClasses = []string{
	"BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "OPERATOR",
}

// Expression returns the expression of a query that is SELECT with one expression, and FROM with one
// table at most. Anything else is an [Error], and so is an expression that is not scalar.
func (q *Query) Expression() (*Expression, error) {
	node, _ := q.tree["node"].(map[string]any)
	from, _ := node["from_table"].(map[string]any)
	list, _ := node["select_list"].([]any)
	if q.explains || node["type"] != "SELECT_NODE" || from["type"] != "BASE_TABLE" && from["type"] != "EMPTY" ||
		len(list) != 1 || !bare(node, "type", "aggregate_handling", "select_list", "from_table") {
		return nil, denied("this is not one expression")
	}
	x := &Expression{}
	if err := x.add(list); err != nil {
		return nil, err
	}
	return x, nil
}

// add adds what the expressions below a node read and call.
func (x *Expression) add(node any) error {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			if err := x.add(v); err != nil {
				return err
			}
		}
	case map[string]any:
		class := text(n["class"])
		if class != "" && !slices.Contains(scalarClasses, class) {
			return denied("%s is not allowed in a rule", strings.ToLower(class))
		}
		switch class {
		case "CONSTANT":
			return nil
		case "COLUMN_REF":
			if names, _ := n["column_names"].([]any); len(names) > 0 {
				x.Columns = append(x.Columns, text(names[0]))
			}
			return nil
		case "FUNCTION":
			if n["distinct"] == true || !empty(n["filter"]) {
				return denied("an aggregate is not allowed in a rule")
			}
			x.Functions = append(x.Functions, functionName(n))
		}
		for _, v := range n {
			if err := x.add(v); err != nil {
				return err
			}
		}
	}
	return nil
}
