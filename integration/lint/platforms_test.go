package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
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

// TestPlatformsCompile checks the types of all packages and their tests for systems that the other
// tests do not run on, and with the clients of object stores, which other checks leave out. It
// compiles nothing. make platforms has go vet for the same systems, and builds the binary for each
// platform.
func TestPlatformsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("go test -short: it checks all packages three times")
	}
	for _, platform := range []struct{ name, tags string }{
		{"darwin/arm64", "nocloud"}, {"windows/amd64", "nocloud"}, {"linux/amd64", ""},
	} {
		t.Run(platform.name, func(t *testing.T) { typeCheck(t, platform.name, platform.tags) })
	}
}

// typeCheck reads the source of all packages and of what they import.
func typeCheck(t *testing.T, platform, tags string) {
	t.Helper()
	system, processor, _ := strings.Cut(platform, "/")
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax &^ packages.NeedTypesInfo, Dir: base, Tests: true, Fset: set,
		BuildFlags: []string{"-tags=" + tags, "-pgo=off"},
		Env:        append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOFLAGS="+plainFlags()),
		ParseFile: func(set *token.FileSet, path string, text []byte) (*ast.File, error) {
			f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
			if f != nil && !strings.HasPrefix(path, base+string(filepath.Separator)) {
				dropBodies(f)
			}
			return f, err
		},
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) == 0 {
		t.Fatal("no package was found")
	}
	for _, p := range loaded {
		if strings.HasSuffix(p.ID, ".test") { // the main function that go test makes
			continue
		}
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p.ID, e)
		}
	}
}

// dropBodies forgets the statements of functions, of which no other package needs the types.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		if function, ok := d.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
}

// plainFlags returns GOFLAGS without tags: that of CUDA needs cgo.
func plainFlags() string {
	return regexp.MustCompile(`-tags=\S+`).ReplaceAllString(os.Getenv("GOFLAGS"), "")
}
