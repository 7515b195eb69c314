//go:build cgo

package duck

import "strconv"

type setting struct{ name, value string }

// settings are those that DuckDB starts with.
func settings(cfg Config) []setting {
	s := []setting{
		{"duckdb_api", "vibeflight"},
		{"errors_as_json", "true"},
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_community_extensions", "false"},
		{"allow_unsigned_extensions", "false"},
		{"allow_persistent_secrets", "false"},
		{"temp_directory", cfg.SpillDir},
	}
	if cfg.MemoryBytes > 0 {
		s = append(s, setting{"memory_limit", strconv.FormatInt(cfg.MemoryBytes, 10) + "B"})
	}
	if cfg.Threads > 0 {
		s = append(s, setting{"threads", strconv.Itoa(cfg.Threads)})
	}
	return s
}

// spillLimit is what DuckDB 1.5.5 takes at its start and does not obey then; set later it holds. It
// is "" where there is none.
func spillLimit(cfg Config) string {
	if cfg.SpillDir == "" || cfg.SpillBytes <= 0 {
		return ""
	}
	return "SET GLOBAL max_temp_directory_size = '" + strconv.FormatInt(cfg.SpillBytes, 10) + "B'"
}

// eastingFirst has the functions of the spatial extension take and give x as easting or longitude,
// as every table here has it. Without it ST_Transform and the functions on the spheroid take the
// axes in the order of the authority, which is latitude first for EPSG:4326.
const eastingFirst = "SET GLOBAL geometry_always_xy = true"

// geometryType makes the type of what ST_GeometryType gives, which the extension names and does not
// make: ORDER BY looks for it.
const geometryType = "CREATE TYPE main.geometry_type AS ENUM (SELECT unnest(enum_range(ST_GeometryType('POINT (0 " +
	"0)'::GEOMETRY))))"

// lockdown is run once everything is in place. The database that clients see gets the server's
// name; points in time are written in UTC, whatever the machine's zone is; from then on files are
// out of reach, and nothing can be set.
var lockdown = []string{
	"ATTACH ':memory:' AS " + catalogName,
	"USE " + catalogName,
	"DETACH memory",
	"SET GLOBAL TimeZone = 'UTC'",
	"SET GLOBAL home_directory = '/nonexistent'",
	"SET GLOBAL secret_directory = '/nonexistent'",
	"SET GLOBAL extension_directory = '/nonexistent'",
	"SET GLOBAL enable_external_access = false",
	"SET GLOBAL lock_configuration = true",
}

// catalogName is what DuckDB calls the database of all views.
const catalogName = "vibeflight"
