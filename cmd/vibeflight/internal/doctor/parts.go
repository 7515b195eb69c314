package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Parts examines whether what lies next to the executable fits it: the embedded DuckDB and its
// spatial extension, the Python package, the kernels and the driver. Nothing outside of this
// machine is asked. version is that of the build, or "" if it is not a release.
func Parts(version string) []Finding {
	check := Checkup{Serve: &server.Config{}}
	return append(check.examineSQL(), pythonPackage(version, sqlengine.Places()), compiledKernels(), driver())
}

// pythonPackage finds the Python package among the places of its environment.
func pythonPackage(version string, places []string) Finding {
	f := Finding{Name: "Python package", Found: "not next to this executable"}
	for _, place := range places {
		found, _ := fs.Glob(os.DirFS(place), "vibeflight-*.dist-info") // the pattern is correct
		for _, name := range found {
			have := strings.TrimSuffix(strings.TrimPrefix(name, "vibeflight-"), ".dist-info")
			f.Found = have + " in " + filepath.Clean(place)
			if f.OK = version == "" || have == version; !f.OK {
				f.Fatal = true
				f.Advice = "this executable is of version " + version +
					": pip install --force-reinstall vibeflight==" + version
			}
			return f
		}
	}
	return f
}

func compiledKernels() Finding {
	f := Finding{
		Name: "kernels", Found: "not compiled in",
		Advice: "with a GPU, NVRTC compiles them at the first start",
	}
	if kernels.CompiledIn() != nil {
		f = Finding{Name: "kernels", OK: true, Found: "compiled in"}
	}
	return f
}

// driver reports whether NVIDIA's driver answers.
func driver() Finding {
	n, err := gpu.Count()
	switch {
	case err != nil:
		return Finding{Name: "driver", Found: err.Error()}
	case n == 0:
		return Finding{Name: "driver", Found: "no GPU"}
	}
	return Finding{Name: "driver", OK: true, Found: "NVIDIA's driver has a GPU"}
}
