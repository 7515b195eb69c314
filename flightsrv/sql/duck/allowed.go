//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"regexp"
	"strings"
)

// tableFunctions are the functions that a query may call in FROM. Others read files, take pointers,
// run text as SQL, or change DuckDB's settings. A list of refused functions would miss those that
// the next version of DuckDB adds.
var tableFunctions = words(`
	generate_series range repeat repeat_row unnest
	json_each json_tree
	summary
	st_generatepoints
	icu_calendar_names pg_timezone_names
	duckdb_columns duckdb_constraints duckdb_coordinate_systems duckdb_databases duckdb_functions
	duckdb_indexes duckdb_keywords duckdb_memory
	duckdb_optimizers duckdb_schemas duckdb_sequences duckdb_settings duckdb_tables duckdb_types duckdb_views
	pragma_collations pragma_platform pragma_user_agent pragma_version
	test_all_types`)

// deniedFunctions are the scalar functions that affect the server, or only keep it busy, and those
// that take a query as text, whose calls are not checked. Functions that compute are allowed.
var deniedFunctions = words(`currval getenv nextval pg_sleep sleep_ms write_log
	json_deserialize_sql json_execute_serialized_sql json_serialize_plan json_serialize_sql`)

// hostSettings are the settings that reveal the server's machine: paths, network access, keys.
const hostSettings = `directory|directories|path|file|location|output|proxy|secret|repository|user|password|key|storage`

// settingsMacro hides their values in the list of all settings.
const settingsMacro = `CREATE MACRO main.duckdb_settings() AS TABLE
SELECT * REPLACE (CASE WHEN NOT regexp_matches(name, '` + hostSettings + `') THEN "value" END AS "value")
    FROM system.main.duckdb_settings()`

var hostSetting = regexp.MustCompile(`(?i)` + hostSettings)

// crsFunctions are the functions that take or return the name of a reference system, with the index
// of the first such argument.
var crsFunctions = map[string]int{"st_transform": 1, "st_setcrs": 1, "st_crs": 1}

// crsFile matches a definition of a reference system that makes PROJ open a file.
var crsFile = regexp.MustCompile(`(?i)\binit\s*=|grids|model\s*=|\bfile\b|parameter_?file|proj4|@|\\|^\s*/`)

func words(s string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// checkAllowed returns an error if a syntax tree calls a function that queries may not call. offset
// is the start of the tree's text in the query.
func checkAllowed(node any, offset int) error {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			if err := checkAllowed(v, offset); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := checkCall(n, offset); err != nil {
			return err
		}
		for _, v := range n {
			if err := checkAllowed(v, offset); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCall(n map[string]any, offset int) error {
	call, fine := n, !deniedFunctions[functionName(n)]
	if n["type"] == "TABLE_FUNCTION" {
		call, _ = n["function"].(map[string]any)
		fine = tableFunctions[functionName(call)]
		if functionName(call) == "duckdb_settings" { // DuckDB's own, by its full name, has all values
			fine = empty(call["schema"]) && empty(call["catalog"])
		}
	}
	err := denied("the function %s is not allowed here", functionName(call))
	if fine {
		if err = checkArguments(call); err == nil {
			return nil
		}
	}
	if at, ok := call["query_location"].(float64); ok && at < 1<<31 { // 2^64-1 is no place
		err.Position = int(at) + offset
	}
	return err
}

// checkArguments checks the arguments of functions that are allowed only with some.
func checkArguments(call map[string]any) *Error {
	name := functionName(call)
	children, _ := call["children"].([]any)
	if name == "current_setting" && (len(children) != 1 || hostSetting.MatchString(constantText(children[0])) ||
		constantText(children[0]) == "") {
		return denied("current_setting is allowed for a setting that is named, and tells nothing of the server's " +
			"machine")
	}
	first, ok := crsFunctions[name]
	if !ok {
		return nil
	}
	for i := first; i < len(children); i++ {
		child, _ := children[i].(map[string]any)
		value, _ := child["value"].(map[string]any)
		switch of, isText := value["value"].(string); {
		case child["class"] == "CONSTANT" && !isText, functionName(child) == "st_crs", child["type"] == "COMPARE_EQUAL":
			// always_xy, always_xy = true
		case child["class"] == "CAST" && castType(child) == "BOOLEAN": // true is 't'::BOOLEAN
		case child["class"] != "CONSTANT":
			return denied("the reference systems of %s have to be written in the query, as texts", name)
		case crsFile.MatchString(of):
			return denied("a reference system that names a file is not allowed here: %s", of)
		}
	}
	return nil
}

func castType(cast map[string]any) string {
	to, _ := cast["cast_type"].(map[string]any)
	return text(to["id"])
}

func constantText(node any) string {
	n, _ := node.(map[string]any)
	value, _ := n["value"].(map[string]any)
	return text(value["value"])
}
