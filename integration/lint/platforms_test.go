package lint

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// systemPackages may use golang.org/x/sys outside of internal/system: the workers of SQL and the
// emulation need Linux, and the parsers ask for the processor's instructions (cpu).
var systemPackages = map[string][]string{
	"golang.org/x/sys/unix":    {"internal/system...", "flightsrv/sql/worker", "gpu/internal/emu"},
	"golang.org/x/sys/windows": {"internal/system..."},
}

// TestSystemCalls finds system calls outside of internal/system.
func TestSystemCalls(t *testing.T) {
	for _, f := range goFiles(t) {
		if strings.HasPrefix(f.path, "integration/stores/") { // a module of its own, for tests on Linux
			continue
		}
		for _, spec := range f.Imports {
			allowed, ok := systemPackages[strings.Trim(spec.Path.Value, `"`)]
			if ok && !slices.ContainsFunc(allowed, func(p string) bool { return matches(p, folder(f.path)) }) {
				t.Errorf("%s: it imports %s, which only %q may", f.set.Position(spec.Pos()), spec.Path.Value, allowed)
			}
		}
	}
}

// TestPlatformsCompile type-checks all packages and their tests for systems that the other tests do
// not run on, with go vet. make platforms does it for FreeBSD, and builds the
// binary for each platform.
func TestPlatformsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("go test -short: it compiles all packages twice")
	}
	for _, platform := range []string{"darwin/arm64", "windows/amd64"} {
		system, processor, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "vet", "-tags=nocloud", "./...")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOFLAGS="+plainFlags())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", platform, err, out)
		}
	}
}

// plainFlags returns GOFLAGS without tags: that of CUDA needs cgo.
func plainFlags() string {
	return regexp.MustCompile(`-tags=\S+`).ReplaceAllString(os.Getenv("GOFLAGS"), "")
}
