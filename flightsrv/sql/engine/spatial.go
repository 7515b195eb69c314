package engine

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// spatialFile is DuckDB's extension for geometries.
const spatialFile = "spatial.duckdb_extension"

// FindSpatial returns the path of the spatial extension below the folder of Config.Extensions, or
// "". It looks in the folder itself, in the layout of DuckDB, and in that of the wheel
// duckdb-extension-spatial. A wrong version fails when it is loaded.
func FindSpatial(dir string) string {
	if dir == "" {
		return ""
	}
	version := duck.LibraryVersion()
	for _, below := range []string{
		"",
		filepath.Join(version, platform()),
		filepath.Join("extensions", version),
		filepath.Join("duckdb_extension_spatial", "extensions", version),
	} {
		path, err := filepath.Abs(filepath.Join(dir, below, spatialFile))
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// platform is DuckDB's name of this platform.
func platform() string {
	system := runtime.GOOS
	if system == "darwin" {
		system = "osx"
	}
	return system + "_" + runtime.GOARCH
}
