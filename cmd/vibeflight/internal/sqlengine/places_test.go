package sqlengine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// The extension is found from wherever an installer puts the executable.
func TestPlacesOf(t *testing.T) {
	for _, tc := range []struct {
		name, exe string
		folder    string // has the extension
		want      bool
	}{
		{"next to the executable", "opt/vibeflight", "opt", true},
		{"command of an environment", "venv/bin/vibeflight", "venv/lib/python3.11/site-packages", true},
		{"lib64", "venv/bin/vibeflight", "venv/lib64/python3.14/site-packages", true},
		{"Debian's Python", "usr/local/bin/vibeflight", "usr/local/lib/python3.11/dist-packages", true},
		{"Windows", "venv/Scripts/vibeflight.exe", "venv/Lib/site-packages", true},
		{"user of Windows", "Python311/Scripts/vibeflight.exe", "Python311/site-packages", true},
		{
			"file of a package", "venv/lib/python3.11/site-packages/vibeflight/bin/vibeflight",
			"venv/lib/python3.11/site-packages", true,
		},
		{"package of the system", "usr/bin/vibeflight", "usr/lib/vibeflight", true},
		{"a bracket in the name", "a[b/bin/vibeflight", "a[b/lib/python3.11/site-packages", true},
		{"another environment", "venv/bin/vibeflight", "other/lib/python3.11/site-packages", false},
		{"the folder above", "home/build/bin/vibeflight", "home", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			exe, folder := filepath.Join(root, tc.exe), filepath.Join(root, tc.folder)
			write(t, exe)
			below := filepath.Join("duckdb_extension_spatial", "extensions", duck.LibraryVersion())
			write(t, filepath.Join(folder, below, SpatialFile))
			if got := firstWithSpatial(placesOf(exe)); (got == folder) != tc.want || got != "" && !tc.want {
				t.Errorf("found %q among %q, want it %v in %q", got, placesOf(exe), tc.want, folder)
			}
		})
	}
}

// The flag comes first, and none is for no extension.
func TestExtensionFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if places := Places(); !slices.Contains(places, filepath.Join(home, ".duckdb", "extensions")) {
		t.Errorf("places: %q", places)
	}
	if got := (&Flags{}).ExtensionFolder(); got != "" {
		t.Errorf("nowhere: found %q", got)
	}
	write(t, filepath.Join(home, ".duckdb", "extensions", SpatialFile))
	for flag, want := range map[string]string{
		"": filepath.Join(home, ".duckdb", "extensions"), "none": "", "elsewhere": "elsewhere",
	} {
		if got := (&Flags{Extensions: flag}).ExtensionFolder(); got != want {
			t.Errorf("--duckdb-extensions %q: %q, want %q", flag, got, want)
		}
	}
	if command := duck.InstallSpatial(); strings.Contains(command, "=v") {
		t.Errorf("pip knows no version with a letter: %s", command)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
