package duck

import (
	"encoding/json"
	"slices"
	"strings"
)

// Query is the text of one query, and its syntax tree.
type Query struct {
	text     string
	tree     map[string]any // of the explained query in an EXPLAIN
	explains bool
}

// wire is the JSON form of a query.
type wire struct {
	Text     string         `json:"text"`
	Tree     map[string]any `json:"tree,omitempty"`
	Explains bool           `json:"explains,omitempty"`
}

// MarshalJSON encodes the text and its syntax tree.
func (q *Query) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{q.text, q.tree, q.explains})
}

// UnmarshalJSON decodes what MarshalJSON encoded.
func (q *Query) UnmarshalJSON(text []byte) error {
	var w wire
	err := json.Unmarshal(text, &w)
	q.text, q.tree, q.explains = w.Text, w.Tree, w.Explains
	return err
}

// Filters reports whether the query has a condition. Otherwise it reads all rows of its tables.
func (q *Query) Filters() bool { return filters(q.tree) }

func filters(node any) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, filters)
	case map[string]any:
		for _, key := range []string{"where_clause", "condition", "having", "qualify"} {
			if n[key] != nil {
				return true
			}
		}
		for _, v := range n {
			if filters(v) {
				return true
			}
		}
	}
	return false
}

// saysHuge reports whether the query names the type HUGEINT in a cast, or has a number that needs
// it. A query without a tree is one of this package.
func (q *Query) saysHuge() bool { return q.tree == nil || saysHuge(q.tree) }

func saysHuge(node any) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, saysHuge)
	case map[string]any:
		for key, v := range n {
			name := (key == "id" || key == "name") && (strings.EqualFold(text(v), "HUGEINT") ||
				strings.EqualFold(text(v), "INT128"))
			if name || saysHuge(v) {
				return true
			}
		}
	}
	return false
}

// Takes returns the columns that the query selects from its only table, nil for all of them, if it
// does nothing else: no expression, condition, order or limit. The columns may not exist.
func (q *Query) Takes() (columns []string, ok bool) {
	node, _ := q.tree["node"].(map[string]any)
	from, _ := node["from_table"].(map[string]any)
	if q.explains || node["type"] != "SELECT_NODE" || node["aggregate_handling"] != "STANDARD_HANDLING" ||
		from["type"] != "BASE_TABLE" ||
		!bare(node, "type", "aggregate_handling", "select_list", "from_table") ||
		!bare(from, "type", "alias", "query_location", "catalog_name", "schema_name", "table_name") {
		return nil, false
	}
	table := text(from["alias"])
	if table == "" {
		table = text(from["table_name"])
	}
	list, _ := node["select_list"].([]any)
	for _, item := range list {
		n, _ := item.(map[string]any)
		switch n["type"] {
		case "STAR":
			of := text(n["relation_name"])
			return nil, len(list) == 1 && (of == "" || strings.EqualFold(of, table)) &&
				bare(n, "class", "type", "query_location", "relation_name")
		case "COLUMN_REF":
			names, _ := n["column_names"].([]any)
			qualified := len(names) == 2 && strings.EqualFold(text(names[0]), table)
			if len(names) != 1 && !qualified || !bare(n, "class", "type", "query_location", "alias", "column_names") {
				return nil, false
			}
			columns = append(columns, text(names[len(names)-1]))
		default:
			return nil, false
		}
	}
	return columns, len(columns) > 0
}

// bare reports whether a node of the syntax tree has only these members. So members that the next
// version of DuckDB adds are noticed.
func bare(node map[string]any, members ...string) bool {
	for key, v := range node {
		if !slices.Contains(members, key) && !empty(v) {
			return false
		}
	}
	return true
}

func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return bare(v)
	}
	return v == nil || v == "" || v == false
}

func functionName(call map[string]any) string { return strings.ToLower(text(call["function_name"])) }
