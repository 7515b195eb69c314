//go:build cgo

package duck

import "strings"

// tableFunctions are those that a query may call in its FROM. The others read files, take pointers, run text as SQL, or change how DuckDB works: a list of
// what is refused would miss those that DuckDB's next version adds.
var tableFunctions = words(`
	generate_series range repeat repeat_row unnest
	json_each json_tree
	summary
	st_generatepoints
	icu_calendar_names pg_timezone_names
	duckdb_columns duckdb_constraints duckdb_coordinate_systems duckdb_databases duckdb_functions duckdb_indexes duckdb_keywords duckdb_memory
	duckdb_optimizers duckdb_schemas duckdb_sequences duckdb_settings duckdb_tables duckdb_types duckdb_views
	pragma_collations pragma_platform pragma_user_agent pragma_version
	test_all_types`)

// deniedFunctions are the scalar functions that do something to the server, or nothing but keep it from its work. Those that read a setting or compute are
// left alone.
var deniedFunctions = words(`currval getenv nextval sleep_ms write_log`)

func words(s string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// allowed looks for functions in a syntax tree that no query may call. offset is where the tree's text begins in the query's.
func allowed(node any, offset int) error {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			if err := allowed(v, offset); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := allowedCall(n, offset); err != nil {
			return err
		}
		for _, v := range n {
			if err := allowed(v, offset); err != nil {
				return err
			}
		}
	}
	return nil
}

func allowedCall(n map[string]any, offset int) error {
	call, fine := n, !deniedFunctions[functionName(n)]
	if n["type"] == "TABLE_FUNCTION" {
		call, _ = n["function"].(map[string]any)
		fine = tableFunctions[functionName(call)]
	}
	if fine {
		return nil
	}
	err := denied("the function %s is not allowed here", functionName(call))
	if at, ok := call["query_location"].(float64); ok && at < 1<<31 { // 2^64-1 is no place
		err.Position = int(at) + offset
	}
	return err
}

func functionName(call map[string]any) string { return strings.ToLower(text(call["function_name"])) }
