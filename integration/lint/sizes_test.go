package lint

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits of what a reader has to hold in mind at once.
const (
	maxCodeColumns     = 120 // of a line of Go or CUDA, a tab being four
	maxDocsColumns     = 160 // of a line of a page
	maxFolderFiles     = 30  // of production code in a folder
	maxExported        = 62  // names that a package exports, without methods
	maxCatalogFiles    = 12  // of the package that joins the catalog's parts
	maxCatalogMethods  = 36  // of the same, exported
	maxKernelParameter = 12  // of a function in CUDA
)

// columns returns the width of a line.
func columns(text string) int { return utf8.RuneCountInString(text) + 3*strings.Count(text, "\t") }

// TestLinesAreShort leaves out documents in tests: lines of raw strings and of long literals.
func TestLinesAreShort(t *testing.T) {
	raw := map[string]map[int]bool{}
	for _, f := range goFiles(t) {
		if isTest(f.path) {
			raw[f.path] = literalLines(f)
		}
	}
	for _, path := range files(t, ".go", ".cu", ".cuh") {
		lines(t, path, func(n int, text string) {
			if w := columns(text); w > maxCodeColumns && !raw[path][n] {
				t.Errorf("%s:%d: %d columns, at most %d", path, n, w, maxCodeColumns)
			}
		})
	}
	for _, path := range files(t, ".md") {
		lines(t, path, func(n int, text string) {
			if w := utf8.RuneCountInString(text); w > maxDocsColumns {
				t.Errorf("%s:%d: %d columns, at most %d", path, n, w, maxDocsColumns)
			}
		})
	}
}

// literalLines returns the lines of a file that have a part of a raw string or of a long one.
func literalLines(f goFile) map[int]bool {
	at := map[int]bool{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		s, ok := n.(*ast.BasicLit)
		if ok && s.Kind == token.STRING && (s.Value[0] == '`' || len(s.Value) > maxCodeColumns/2) {
			for line := f.set.Position(s.Pos()).Line; line <= f.set.Position(s.End()).Line; line++ {
				at[line] = true
			}
		}
		return true
	})
	return at
}

// system is the end of a file's name that says for which systems it is.
var system = regexp.MustCompile(`_(linux|unix|bsd|windows|other)\.go$`)

// TestFoldersAreSmall counts the files of a folder. Those of one thing for several systems count once.
func TestFoldersAreSmall(t *testing.T) {
	parts, count := map[string]bool{}, map[string]int{}
	for _, path := range files(t, ".go", ".cu", ".cuh") {
		if !isTest(path) {
			parts[folder(path)+"/"+system.ReplaceAllString(filepath.Base(path), "")] = true
		}
	}
	for part := range parts {
		count[folder(part)]++
	}
	for dir, n := range count {
		if n > maxFolderFiles {
			t.Errorf("%s: %d files, at most %d", dir, n, maxFolderFiles)
		}
	}
	if n := count["catalog"]; n > maxCatalogFiles {
		t.Errorf("catalog: %d files, at most %d", n, maxCatalogFiles)
	}
}

// TestPackagesExportLittle leaves out geoarrow, which is the vocabulary of all others.
func TestPackagesExportLittle(t *testing.T) {
	names, methods := map[string]int{}, map[string]int{}
	for _, f := range goFiles(t) {
		if isTest(f.path) {
			continue
		}
		dir := folder(f.path)
		for _, d := range f.Decls {
			names[dir] += exported(d)
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.IsExported() {
				methods[dir]++
			}
		}
	}
	for dir, n := range names {
		if n > maxExported && dir != "readers/geoarrow" {
			t.Errorf("%s exports %d names, at most %d", dir, n, maxExported)
		}
	}
	if n := methods["catalog"]; n > maxCatalogMethods {
		t.Errorf("catalog has %d exported methods, at most %d", n, maxCatalogMethods)
	}
}

// exported returns the number of names that a declaration exports, without methods.
func exported(d ast.Decl) (n int) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

var (
	cudaComment  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	cudaBounds   = regexp.MustCompile(`__launch_bounds__\([^()]*\)`)
	cudaFunction = regexp.MustCompile(`(?:KERNEL|__device__)[^;{(]*?(\w+)\s*\(([^(){};]*)\)\s*\{`)
)

// TestKernelsHaveFewParameters limits the parameters of functions in CUDA. A kernel that needs more
// arguments takes them as fields of a struct.
func TestKernelsHaveFewParameters(t *testing.T) {
	functions := 0
	for _, path := range files(t, ".cu", ".cuh") {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		code := cudaBounds.ReplaceAllString(cudaComment.ReplaceAllString(string(text), ""), "")
		for _, m := range cudaFunction.FindAllStringSubmatch(code, -1) {
			functions++
			if n := parameters(m[2]); n > maxKernelParameter {
				t.Errorf("%s: %s has %d parameters, at most %d", path, m[1], n, maxKernelParameter)
			}
		}
	}
	if functions < 100 {
		t.Errorf("%d functions were found: the pattern does not fit the code", functions)
	}
}

// parameters returns the number of parameters in a list. Commas between angle brackets separate
// arguments of a template.
func parameters(list string) int {
	if strings.TrimSpace(list) == "" {
		return 0
	}
	n, depth := 1, 0
	for _, c := range list {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}
