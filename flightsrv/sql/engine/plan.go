package engine

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The conditions of a query are read from DuckDB's own plan, which json_serialize_plan returns
// after all rewriting. A filter is above the scan of its table, its constants are folded, and
// columns are numbers.
//
//	LOGICAL_FILTER           expressions: height > 10 AND (kind = 'a' OR kind = 'b'); a column
//	│                        is its number in the operator below
//	└ LOGICAL_PROJECTION     or several, or none: expressions that are such numbers again
//	  └ LOGICAL_GET          vibeflight_scan('roads.geojson'), column_indexes: which columns of the table it gives
//
// A plan that can't be serialized, as with a long IN list, gives no conditions: nothing is skipped.

// operator is a node of the plan. Only these of its members are read.
type operator struct {
	Type        string       `json:"type"`
	Children    []operator   `json:"children"`
	Expressions []expression `json:"expressions"`
	// LOGICAL_FILTER: the columns of its input that it passes on; empty: all
	Given []int `json:"projection_map"`

	// LOGICAL_GET
	Function      string     `json:"name"`
	Parameters    []constant `json:"parameters"`
	Columns       []column   `json:"column_indexes"`
	ProjectionIDs []int      `json:"projection_ids"` // into Columns; empty: all
}

type column struct {
	Index uint64 `json:"index"` // of the table; beyond its columns for the row's number
}

// expression is a node of an expression.
type expression struct {
	Class      string       `json:"expression_class"`
	Type       string       `json:"type"`
	ReturnType logicalType  `json:"return_type"`
	Children   []expression `json:"children"`
	Left       *expression  `json:"left"`
	Right      *expression  `json:"right"`
	Input      *expression  `json:"input"` // BOUND_BETWEEN, as the next four
	Lower      *expression  `json:"lower"`
	Upper      *expression  `json:"upper"`
	FromLower  bool         `json:"lower_inclusive"`
	ToUpper    bool         `json:"upper_inclusive"`
	Child      *expression  `json:"child"`      // BOUND_CAST
	TryCast    bool         `json:"try_cast"`   // BOUND_CAST
	Index      *int         `json:"index"`      // BOUND_REF: of the columns that the operator below gives
	Value      *constant    `json:"value"`      // BOUND_CONSTANT
	Identifier string       `json:"identifier"` // BOUND_PARAMETER
	Function   string       `json:"name"`       // BOUND_FUNCTION
}

type constant struct {
	Type   logicalType     `json:"type"`
	IsNull bool            `json:"is_null"`
	Value  json.RawMessage `json:"value"`
}

type logicalType struct {
	ID   string `json:"id"`
	Info *struct {
		Alias string `json:"alias"`
		Scale int    `json:"scale"` // DECIMAL
	} `json:"type_info"`
}

// isGeometry reports whether a type is GEOMETRY, which plans write as a BLOB with that alias.
func (t logicalType) isGeometry() bool {
	return t.ID == "GEOMETRY" || t.ID == "BLOB" && t.Info != nil && t.Info.Alias == "GEOMETRY"
}

// readPlan reads the answer of json_serialize_plan.
func readPlan(text []byte) ([]operator, error) {
	var answer struct {
		Error   bool       `json:"error"`
		Message string     `json:"error_message"`
		Plans   []operator `json:"plans"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if answer.Error {
		return nil, fmt.Errorf("DuckDB gives no plan: %s", answer.Message)
	}
	return answer.Plans, nil
}

// scans returns the key of the table that an operator scans, if it is one of ours.
func (o *operator) scans() (key string, ok bool) {
	if o.Type != "LOGICAL_GET" || o.Function != "vibeflight_scan" || len(o.Parameters) == 0 {
		return "", false
	}
	err := json.Unmarshal(o.Parameters[0].Value, &key)
	return key, err == nil
}

// below returns the number that a column of a filter or a projection has in the operator below, or
// -1 if it is not a column there.
func (o *operator) below(i int) int {
	switch {
	case i < 0:
		return -1
	case o.Type == "LOGICAL_FILTER" && len(o.Given) == 0:
		return i
	case o.Type == "LOGICAL_FILTER" && i < len(o.Given):
		return o.Given[i]
	case o.Type == "LOGICAL_PROJECTION" && i < len(o.Expressions) && o.Expressions[i].Class == "BOUND_REF" &&
		o.Expressions[i].Index != nil:
		return *o.Expressions[i].Index
	}
	return -1
}

// column returns the number in the table of a column of a scan, or -1.
func (o *operator) column(i int) int {
	if len(o.ProjectionIDs) > 0 {
		if i < 0 || i >= len(o.ProjectionIDs) {
			return -1
		}
		i = o.ProjectionIDs[i]
	}
	if i < 0 || i >= len(o.Columns) || o.Columns[i].Index > 1<<20 {
		return -1
	}
	return int(o.Columns[i].Index)
}

// filters returns, by the key of each table, the filter of its rows. The filter of a table with
// several scans matches a row that any of them needs. A table that is read completely is not in the
// map.
func filters(plans []operator, of map[string]*relation, parameters map[string]int) map[string]filter {
	found := map[string][]filter{}
	var walk func(o *operator, above []*operator)
	walk = func(o *operator, above []*operator) {
		if key, ok := o.scans(); ok {
			var f filter
			if r := of[key]; r != nil {
				f = (&compiler{scan: o, relation: r, parameters: parameters}).filter(above)
			}
			found[key] = append(found[key], f)
		}
		above = append(above, o)
		for i := range o.Children {
			walk(&o.Children[i], above[:len(above):len(above)])
		}
	}
	for i := range plans {
		walk(&plans[i], nil)
	}
	out := map[string]filter{}
	for key, each := range found {
		if f := unionOf(each); f.condition != nil {
			out[key] = f
		}
	}
	return out
}

// function returns the name of a function in lower case; "" for any other expression.
func (x *expression) function() string {
	if x.Class != "BOUND_FUNCTION" {
		return ""
	}
	return strings.ToLower(x.Function)
}
