//go:build linux && cgo

package emu

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

func newTestCompiler(t *testing.T, o CompilerOptions) driver.Compiler {
	t.Helper()
	c, err := NewCompiler(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompileErrors(t *testing.T) {
	c := newTestCompiler(t, CompilerOptions{})
	const good = "extern \"C\" __global__ void k() {}\n"
	tests := []struct {
		name string
		src  driver.Source
		arch string
		want string
	}{
		{"syntax", driver.Source{Name: "a.cu", Text: "\n__device__ int f( { }"}, Arch, "a.cu:2:"},
		{
			"undeclared",
			driver.Source{Name: "a.cu", Text: "extern \"C\" __global__ void k() { __nowhere(); }"},
			Arch, "__nowhere",
		},
		{"undefined", driver.Source{
			Name: "a.cu",
			Text: "__device__ int f(); extern \"C\" __global__ void k(int *p) { *p = f(); }",
		}, Arch, "f()"},
		{"in a header", driver.Source{
			Name: "a.cu", Text: "#include \"b/c.cuh\"\n",
			Headers: map[string]string{"b/c.cuh": "\n\n#error here"},
		}, Arch, "b/c.cuh:3:"},
		{"standard library", driver.Source{Name: "a.cu", Text: "#include <vector>\n"}, Arch, "vector"},
		{"other architecture", driver.Source{Name: "a.cu", Text: good}, "sm_90", "sm_90"},
		{"name of the folder above", driver.Source{Name: "../a.cu", Text: good}, Arch, "leaves the folder"},
		{
			"absolute header",
			driver.Source{Name: "a.cu", Text: good, Headers: map[string]string{"/tmp/b.h": ""}},
			Arch, "leaves the folder",
		},
		{"no name", driver.Source{Text: good}, Arch, "leaves the folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			image, log, err := c.Compile(tt.src, tt.arch)
			if err == nil || image != nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), log) {
				t.Errorf("got %d bytes, log %q and the error %v, want %q in it", len(image), log, err, tt.want)
			}
		})
	}
}

func TestCompilerWarns(t *testing.T) {
	c := newTestCompiler(t, CompilerOptions{})
	_, log, err := c.Compile(driver.Source{
		Name: "warn.cu",
		Text: "\nextern \"C\" __global__ void k(int *p) { int unused; *p = 1; }\n",
	}, Arch)
	if err != nil || !strings.Contains(log, "warn.cu:2:") || !strings.Contains(log, "unused") {
		t.Errorf("log %q, error %v", log, err)
	}
}

// Names of a source's headers are its own: they may be those of the emulation's.
func TestHeaderNames(t *testing.T) {
	c := newTestCompiler(t, CompilerOptions{})
	headers := map[string]string{
		"block.h": "#define ANSWER 42\n", "warp.h": "", "kernel.o": "",
		"cudaemu/abi.h": "#error not this one\n",
	}
	text := "#include \"block.h\"\nstatic_assert(ANSWER == 42);\nextern \"C\" __global__ void k(int *p) { *p = " +
		"__any_sync(1, ANSWER); }\n"
	if _, log, err := c.Compile(driver.Source{Name: "kernel.so", Text: text, Headers: headers}, Arch); err != nil ||
		log != "" {
		t.Errorf("log %q, error %v", log, err)
	}
}

func TestCompilerVersion(t *testing.T) {
	plain, strict := newTestCompiler(t, CompilerOptions{}), newTestCompiler(t, CompilerOptions{Undefined: true})
	digest, err := headerDigest()
	if err != nil {
		t.Fatal(err)
	}
	if plain.Version() == strict.Version() || !strings.Contains(plain.Version(), digest) {
		t.Errorf("%q and %q", plain.Version(), strict.Version())
	}
}

func TestNoCompiler(t *testing.T) {
	if _, err := NewCompiler(CompilerOptions{Command: "no-such-compiler"}); !errors.Is(err, driver.ErrNoDevice) {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := NewCompiler(CompilerOptions{}); !errors.Is(err, driver.ErrNoDevice) ||
		!strings.Contains(err.Error(), "g++, c++, clang++") {
		t.Errorf("got %v", err)
	}
}

// A compilation leaves nothing behind, and needs no more than its command.
func TestCompilerCleansUp(t *testing.T) {
	folder := t.TempDir()
	c := newTestCompiler(t, CompilerOptions{})
	t.Setenv("TMPDIR", folder)
	for _, text := range []string{"extern \"C\" __global__ void k() {}", "wrong"} {
		image, _, err := c.Compile(driver.Source{Name: "a.cu", Text: text}, Arch)
		if (err == nil) != (len(image) > 0) {
			t.Errorf("%d bytes and %v", len(image), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestImages(t *testing.T) {
	d, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	good := compiled(t, "warp.cu", false)
	change := func(at int) []byte {
		image := append([]byte(nil), good...)
		image[at] ^= 1
		return image
	}
	for _, tt := range []struct {
		name  string
		image []byte
		want  string
	}{
		{"nothing", nil, "not an image"},
		{"PTX", []byte(".version 8.8\n.target sm_90\n" + strings.Repeat("\n", 100)), "not an image"},
		{"other headers", change(digestAt), "built with the headers"},
		{"damaged", change(len(good) - 1), "damaged"},
		{"cut", good[:len(good)-1], "damaged"},
		{"no object", packImage(d.(*device).digest, []byte("\x7fELF")), "load (60 bytes)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := d.Load(tt.image); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Every header stands alone in what a reader may open first, and is part of the digest.
func TestHeadersAreEmbedded(t *testing.T) {
	files, err := filepath.Glob("include/*.h")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = eachHeader(func(name string, text []byte) error {
		n++
		on, err := os.ReadFile(filepath.Join("include", name))
		if string(on) != string(text) {
			t.Errorf("%s differs from the one in the folder", name)
		}
		return err
	})
	if err != nil || n != len(files) {
		t.Errorf("%d headers of %d, %v", n, len(files), err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{MemoryBytes: -1}, {Threads: -1}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	for seed, want := range map[uint64]Order{0: 2, 1: 2, 2: 2, 3: 3, 1<<64 - 1: 1<<64 - 1} {
		if got := Shuffled(seed); got != want {
			t.Errorf("Shuffled(%d) is %d, want %d", seed, got, want)
		}
	}
}
