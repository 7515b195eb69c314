package readertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Input is a file that a test reads.
type Input struct {
	Name    string // the catalog's name, whose extension counts
	Text    []byte
	Options map[string]any
	Layer   string // that is read; empty: the first one
	Limits  readers.Limits
	Parser  func(readers.Layout) readers.Parser // nil: the format's CPU engine

	// Siblings are the files next to it, by extension: ".cpg". They have the stem of Name.
	Siblings map[string][]byte

	// Members are the other files of a bundle, by name; Text is that of its main file.
	Members map[string][]byte
}

// Parse reads the input as the catalog would. Errors of the test's own machinery end the test.
func Parse(t testing.TB, f readers.Format, in Input) (*readers.Table, error) {
	t.Helper()
	r := openInput(t, f, in)
	defer r.close(t)
	return r.read(in.Parser, in.Limits)
}

// input is an open Input, to be read any number of times.
type input struct {
	format readers.Format
	file   *source.File
	src    *source.File // what is parsed: file, or its text as UTF-8
	opts   readers.Options
	layer  string
	err    error // of recoding it
}

func openInput(t testing.TB, f readers.Format, in Input) input {
	t.Helper()
	opts, err := f.ParseOptions(in.Options)
	if err != nil {
		t.Fatal(err)
	}
	r := input{format: f, opts: opts, layer: in.Layer}
	if len(in.Members) > 0 {
		r.file = openMembers(t, f, in)
	} else {
		r.file = openText(t, in)
	}
	r.src, r.err = readers.Registry{f}.Unpack(t.Context(), f, r.file, source.UnpackOptions{})
	return r
}

func (r input) close(t testing.TB) {
	t.Helper()
	if r.err == nil && r.src != r.file {
		if err := r.src.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := r.file.Close(); err != nil {
		t.Error(err)
	}
}

// layout is what a parser of the input is made of.
func (r input) layout(ctx context.Context) (readers.Layout, error) {
	layout, err := r.format.Open(ctx, r.src, r.opts)
	layout.Layer = r.layer
	return layout, err
}

// read reads with a parser of the format, nil for its CPU engine.
func (r input) read(parser func(readers.Layout) readers.Parser, limits readers.Limits) (*readers.Table, error) {
	if r.err != nil {
		return nil, r.err
	}
	ctx := context.Background()
	// The fuzzer treats a panic as a failure, and keeps its input.
	watch := time.AfterFunc(endless, func() {
		panic(fmt.Sprintf("%s is still being read after %v", r.src.Name, endless))
	})
	defer watch.Stop()
	layout, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	if parser == nil {
		parser = r.format.CPU
	}
	table, err := readers.Read(ctx, r.format, parser(layout), r.src, limits, nil)
	if err != nil {
		return nil, err
	}
	if _, err := CompareResident(table); err != nil {
		return nil, err
	}
	return table, table.Measure(ctx)
}

// openText returns the text and its siblings as unlinked files, so that nothing is left on disk.
func openText(t testing.TB, in Input) *source.File {
	t.Helper()
	if len(in.Siblings) > 0 {
		return openSiblings(t, in)
	}
	f, err := os.CreateTemp("", "readertest-*")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(in.Text)
	err = errors.Join(err, f.Close())
	src, openErr := source.Open(in.Name, f.Name())
	if err = errors.Join(err, openErr, os.Remove(f.Name())); err != nil {
		t.Fatal(err)
	}
	return src
}

func openSiblings(t testing.TB, in Input) *source.File {
	t.Helper()
	dir, err := os.MkdirTemp("", "readertest-*")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(in.Name))
	err = os.WriteFile(path, in.Text, 0o666)
	for ext, text := range in.Siblings {
		err = errors.Join(err, os.WriteFile(stem(path)+ext, text, 0o666))
	}
	src, openErr := source.Open(in.Name, path)
	if err = errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	for ext := range in.Siblings {
		_, openErr := src.Sibling(ext)
		err = errors.Join(err, openErr)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	return src
}

// openMembers returns a bundle whose files are unlinked.
func openMembers(t testing.TB, f readers.Format, in Input) *source.File {
	t.Helper()
	dir, err := os.MkdirTemp("", "readertest-*")
	if err != nil {
		t.Fatal(err)
	}
	err = os.WriteFile(filepath.Join(dir, f.Bundle.Main), in.Text, 0o666)
	for name, text := range in.Members {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	src, openErr := source.OpenBundle(in.Name, dir, f.Bundle)
	if err = errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	for name := range in.Members {
		_, openErr := src.Member(name)
		err = errors.Join(err, openErr)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	return src
}

// endless is longer than any test's file takes, even under the race detector.
const endless = 40 * time.Second

const mark = "¦"

// Mark removes the mark ¦ from an input and returns its offset, where an error is expected, or -1.
func Mark(input string) (text string, offset int64) {
	before, after, found := strings.Cut(input, mark)
	if !found {
		return input, -1
	}
	return before + after, int64(len(before))
}

// Place returns the offset, the line and the row of a file's error, or an error if it violates the
// contract.
func Place(err error) (*readers.ParseError, error) {
	var parse *readers.ParseError
	if errors.As(err, &parse) {
		return parse, nil
	}
	var limit *readers.LimitError
	if errors.As(err, &limit) {
		return nil, nil
	}
	return nil, fmt.Errorf("%T is neither *readers.ParseError nor *readers.LimitError: %w", err, err)
}

// Fault fails the test unless an error is one of the byte at an offset of a text, with a part of its
// message. Mark gives text and offset.
func Fault(t testing.TB, text string, err error, offset int64, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s\ngot no error, want %q at byte %d", text, want, offset)
	}
	at, wrong := Place(err)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if at == nil { // a limit: its place is in its text
		t.Fatalf("%s\ngot %v, want a *readers.ParseError at byte %d", text, err, offset)
	}
	if at.Offset != offset || !strings.Contains(err.Error(), want) {
		t.Fatalf("%s\ngot error: %v\nwant %q at byte %d: %s¦%s", text, err, want, offset, text[:offset], text[offset:])
	}
}

// golden is a file of testdata.
type golden struct {
	name     string // of the file without its folder
	path     string
	text     []byte
	siblings map[string][]byte // that are next to it, by extension
	members  map[string][]byte // other files of a bundle, by name
	replaced string            // the member that a fuzzer replaces; empty: the file itself
}

// input returns an Input of the file with another text, or with another text of a member.
func (g *golden) input(text []byte) Input {
	in := Input{Name: g.name, Text: text, Siblings: g.siblings, Members: g.members}
	if g.replaced != "" {
		in.Text, in.Members = g.text, maps.Clone(g.members)
		in.Members[g.replaced] = text
	}
	return in
}

// each returns the file, or the files of a bundle, each to be replaced.
func (g *golden) each() []golden {
	all := []golden{*g}
	for _, name := range slices.Sorted(maps.Keys(g.members)) {
		one := *g
		one.replaced = name
		all = append(all, one)
	}
	return all
}

// bytes returns the text that is replaced.
func (g *golden) bytes() []byte {
	if g.replaced != "" {
		return g.members[g.replaced]
	}
	return g.text
}

// goldens returns the files of testdata that have one of the format's extensions.
func goldens(t testing.TB, f readers.Format) []golden {
	t.Helper()
	return goldensIn(t, f, "testdata")
}

func goldensIn(t testing.TB, f readers.Format, dir string) []golden {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []golden
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && source.IsBundle(path, f.Bundle) {
			found = append(found, bundle(t, f, path))
			continue
		}
		if _, ok := (readers.Registry{f}).ByExtension(e.Name()); !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(found); n > 0 && stem(found[n-1].path) == stem(path) {
			t.Fatalf("%s and %s have one .want between them", found[n-1].path, path)
		}
		found = append(found, golden{name: e.Name(), path: path, text: text, siblings: siblings(t, f, path)})
	}
	if len(found) == 0 {
		t.Fatalf("%s holds no file of format %s", dir, f.Name)
	}
	return found
}

// bundle returns the files of the bundle at a path.
func bundle(t testing.TB, f readers.Format, path string) golden {
	t.Helper()
	src, err := source.OpenBundle(path, path, f.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g := golden{name: filepath.Base(path), path: path, members: map[string][]byte{}}
	for _, name := range src.MemberNames() {
		text, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == f.Bundle.Main {
			g.text = text
		} else {
			g.members[name] = text
		}
	}
	return g
}

// siblings returns the files next to the one at a path that belong to it.
func siblings(t testing.TB, f readers.Format, path string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, ext := range f.Siblings {
		text, err := os.ReadFile(stem(path) + ext)
		switch {
		case err == nil:
			all[ext] = text
		case !errors.Is(err, os.ErrNotExist):
			t.Fatal(err)
		}
	}
	return all
}
