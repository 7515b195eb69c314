package duck

import (
	"cmp"
	"slices"
	"strings"
)

// References returns the tables that the query names, each once, sorted, without the names of its
// own WITH. It does not look them up.
func (q *Query) References() []Reference {
	var refs []Reference
	collect(q.tree, nil, &refs)
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.Schema, b.Schema),
			strings.Compare(a.Name, b.Name))
	})
	return refs
}

// collect adds the base tables below a node of the syntax tree. ctes are the names that a WITH
// above it defines.
func collect(node any, ctes []string, refs *[]Reference) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			collect(v, ctes, refs)
		}
	case map[string]any:
		ctes = collectCTEs(n, ctes, refs)
		if n["type"] == "BASE_TABLE" {
			r := Reference{text(n["catalog_name"]), text(n["schema_name"]), text(n["table_name"])}
			own := r.Catalog == "" && r.Schema == "" && slices.ContainsFunc(ctes, func(s string) bool {
				return strings.EqualFold(s, r.Name)
			})
			if !own && !slices.Contains(*refs, r) {
				*refs = append(*refs, r)
			}
		}
		for key, v := range n {
			if key != "cte_map" {
				collect(v, ctes, refs)
			}
		}
	}
}

// collectCTEs adds the base tables of a node's WITH, and returns the names that are defined below
// the node. A query in WITH sees the names before it, and its own if it is recursive.
func collectCTEs(n map[string]any, ctes []string, refs *[]Reference) []string {
	with, _ := n["cte_map"].(map[string]any)
	entries, _ := with["map"].([]any)
	ctes = slices.Clip(ctes)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		name := text(entry["key"])
		value, _ := entry["value"].(map[string]any)
		query, _ := value["query"].(map[string]any)
		body, _ := query["node"].(map[string]any)
		if body["type"] == "RECURSIVE_CTE_NODE" {
			collect(value, append(ctes, name), refs)
		} else {
			collect(value, ctes, refs)
		}
		ctes = append(ctes, name)
	}
	return ctes
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
