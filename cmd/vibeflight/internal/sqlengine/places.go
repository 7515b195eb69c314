package sqlengine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// NoExtensions is the value of --duckdb-extensions for no extension at all.
const NoExtensions = "none"

// ExtensionFolder returns the folder with the spatial extension: that of --duckdb-extensions, else
// the first of Places that has it; "" if none has.
func (c *Flags) ExtensionFolder() string {
	switch c.Extensions {
	case NoExtensions:
		return ""
	case "":
		return firstWithSpatial(Places())
	}
	return c.Extensions
}

func firstWithSpatial(folders []string) string {
	for _, dir := range folders {
		if engine.FindSpatial(dir) != "" {
			return dir
		}
	}
	return ""
}

// Places returns the folders in which the spatial extension is looked for without
// --duckdb-extensions, each as FindSpatial reads it.
func Places() []string {
	var places []string
	if exe, err := os.Executable(); err == nil {
		places = placesOf(exe)
		// Only Linux returns the file that a link leads to. pipx, uv and Homebrew make such links.
		if target, err := filepath.EvalSymlinks(exe); err == nil && target != exe {
			places = append(places, placesOf(target)...)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		places = append(places, filepath.Join(home, ".duckdb", "extensions")) // of DuckDB's INSTALL
	}
	return places
}

// placesOf returns the folders that belong to an executable: its own, the packages of the Python
// environment that it was installed in, and the one that a system's package has for it.
func placesOf(exe string) []string {
	dir := filepath.Dir(exe)
	places := []string{dir}
	// site-packages/vibeflight/bin/vibeflight: a file of a Python package.
	for parent := dir; parent != filepath.Dir(parent); parent = filepath.Dir(parent) {
		if slices.Contains([]string{"site-packages", "dist-packages"}, filepath.Base(parent)) {
			places = append(places, parent)
			break
		}
	}
	// bin/vibeflight or Scripts\vibeflight.exe: a command of a Python environment.
	prefix := filepath.Dir(dir)
	for _, pattern := range []string{
		"lib/python3.*/site-packages", "lib64/python3.*/site-packages", "lib/python3.*/dist-packages",
		"Lib/site-packages", // on Windows
		"site-packages",     // on Windows, of one user
	} {
		found, _ := fs.Glob(os.DirFS(prefix), pattern) // the patterns are correct
		for _, name := range found {
			places = append(places, filepath.Join(prefix, filepath.FromSlash(name)))
		}
	}
	return append(places, filepath.Join(prefix, "lib", "vibeflight"))
}
