//go:build cgo && linux && (amd64 || arm64)

package duck

import "strconv"

type setting struct{ name, value string }

// settings are the settings that DuckDB starts with.
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

// spillLimit is the limit of the spill folder; "" without one. DuckDB 1.5.5 ignores it at the
// start, and obeys it when it is set later.
func spillLimit(cfg Config) string {
	if cfg.SpillDir == "" || cfg.SpillBytes <= 0 {
		return ""
	}
	return "SET GLOBAL max_temp_directory_size = '" + strconv.FormatInt(cfg.SpillBytes, 10) + "B'"
}

// eastingFirst makes the functions of the spatial extension use x as easting or longitude, as every
// table has it. Otherwise ST_Transform and the functions on the spheroid use the axis order of the
// authority, which is latitude first for EPSG:4326.
const eastingFirst = "SET GLOBAL geometry_always_xy = true"

// geometryType creates the type of ST_GeometryType's results. The extension names the type and does
// not create it, and ORDER BY looks it up.
const geometryType = "CREATE TYPE main.geometry_type AS ENUM (SELECT unnest(enum_range(ST_GeometryType('POINT (0 " +
	"0)'::GEOMETRY))))"

// lockdown runs at the end of the setup. It gives the database the name that clients see, and sets
// the time zone to UTC. From then on, files are out of reach, and settings are locked.
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

// catalogName is the name of the database of views.
const catalogName = "vibeflight"
