// Package lint checks the rules of this repository that no general linter knows: who imports whom,
// names of types, sizes of files, folders and packages. `make lint` runs it.
package lint

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.." // of the repository
	module = "github.com/vibeflight/vibeflight/"
)

// files returns the paths, relative to the root, of the files with one of the extensions. It leaves
// out folders that make or go creates.
func files(t *testing.T, extensions ...string) []string {
	t.Helper()
	skip := []string{"bin", "build", "data", "testdata", "node_modules"}
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && path != root
		if d.IsDir() && (hidden || slices.Contains(skip, d.Name())) {
			return filepath.SkipDir
		}
		if !d.IsDir() && slices.Contains(extensions, filepath.Ext(path)) {
			rel, err := filepath.Rel(root, path)
			found = append(found, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no file has one of the extensions %q", extensions)
	}
	return found
}

// isTest reports whether a file is only for tests.
func isTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "kernels/internal/kerneltest/")
}

// goFile is a parsed Go file.
type goFile struct {
	path string
	set  *token.FileSet
	*ast.File
}

// goFiles parses all Go files, whatever their build tags.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var parsed []goFile
	for _, path := range files(t, ".go") {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, goFile{path, set, f})
	}
	return parsed
}

// folder returns the folder of a file.
func folder(path string) string {
	return filepath.ToSlash(filepath.Dir(path))
}

// lines calls each with the number and the text of every line of a file.
func lines(t *testing.T, path string, each func(number int, text string)) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for n := 1; in.Scan(); n++ {
		each(n, in.Text())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}
