package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPythonPackageNextToTheExecutable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "vibeflight-0.1.0.dist-info"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, version string
		places        []string
		ok, fatal     bool
	}{
		{"same version", "0.1.0", []string{dir}, true, false},
		{"other version", "0.2.0", []string{dir}, false, true},
		{"not a release", "", []string{dir}, true, false},
		{"no package", "0.1.0", []string{t.TempDir()}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := pythonPackage(c.version, c.places)
			if got.OK != c.ok || got.Fatal != c.fatal {
				t.Errorf("pythonPackage(%q) = %+v, want OK %t, Fatal %t", c.version, got, c.ok, c.fatal)
			}
		})
	}
}
