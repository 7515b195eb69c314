package duck

import (
	"slices"
	"strings"
)

// Expression is what a scalar expression reads and calls.
type Expression struct {
	Columns   []Place // the first parts of the names in it
	Functions []Place // in lower case, with operators
}

// Place is a name in the text of a query.
type Place struct {
	Name     string
	Position int // byte; -1: unknown
}

// placeOf returns the place of a node of the syntax tree.
func placeOf(name string, node map[string]any) Place {
	if at, ok := node["query_location"].(float64); ok && at < 1<<31 { // 2^64-1 is no place
		return Place{name, int(at)}
	}
	return Place{name, -1}
}

// deniedAt is denied with the place of a node.
func deniedAt(node map[string]any, format string, args ...any) *Error {
	err := denied(format, args...)
	err.Position = placeOf("", node).Position
	return err
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
			return deniedAt(n, "%s is not allowed in a filter or a mask", strings.ToLower(class))
		}
		switch class {
		case "CONSTANT":
			return nil
		case "COLUMN_REF":
			if names, _ := n["column_names"].([]any); len(names) > 0 {
				x.Columns = append(x.Columns, placeOf(text(names[0]), n))
			}
			return nil
		case "FUNCTION":
			if n["distinct"] == true || !empty(n["filter"]) {
				return deniedAt(n, "an aggregate is not allowed in a filter or a mask")
			}
			x.Functions = append(x.Functions, placeOf(functionName(n), n))
		}
		for _, v := range n {
			if err := x.add(v); err != nil {
				return err
			}
		}
	}
	return nil
}
