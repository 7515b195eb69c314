//go:build linux && cgo

package emu

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

type compiler struct {
	command string
	version string
	digest  string
	options CompilerOptions
}

// NewCompiler returns a compiler of images for the devices of this package. driver.ErrNoDevice says
// that the machine has no C++ compiler.
func NewCompiler(o CompilerOptions) (driver.Compiler, error) {
	command, err := findCompiler(o.Command)
	if err != nil {
		return nil, err
	}
	version, err := exec.Command(command, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s --version: %w", driver.ErrNoDevice, command, err)
	}
	digest, err := headerDigest()
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(string(version), "\n")
	name := fmt.Sprintf("emulation %s with entries, %s, %s", digest, line, runtime.GOARCH)
	if o.Undefined {
		name += ", undefined behaviour is an error"
	}
	return &compiler{command: command, version: name, digest: digest, options: o}, nil
}

func findCompiler(command string) (string, error) {
	names := []string{"g++", "c++", "clang++"}
	if command != "" {
		names = []string{command}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: the emulation needs a C++ compiler, none of %s is there", driver.ErrNoDevice,
		strings.Join(names, ", "))
}

func (c *compiler) Version() string { return c.version }

// Compile returns a shared object. The log holds the compiler's warnings, of which a kernel should
// have none.
func (c *compiler) Compile(src driver.Source, arch string) (image []byte, log string, err error) {
	if arch != Arch {
		return nil, "", fmt.Errorf("compile %s: the emulation has no architecture %q", src.Name, arch)
	}
	folder, err := os.MkdirTemp("", "cudaemu-")
	if err != nil {
		return nil, "", fmt.Errorf("compile %s: %w", src.Name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := lay(folder, src); err != nil {
		return nil, "", fmt.Errorf("compile %s: %w", src.Name, err)
	}
	out, err := c.run(folder, c.compileArguments(src))
	log = out
	if err == nil {
		out, err = c.run(folder, []string{
			"-shared", "-Wl,--no-undefined", "-Wl,--as-needed",
			"-Wl,-Bsymbolic", // a kernel may have the name of a function in libc
			"-o", objectName, unitName,
		})
		log += out
	}
	if err != nil {
		return nil, log, fmt.Errorf("compile %s: %w\n%s", src.Name, err, log)
	}
	object, err := os.ReadFile(filepath.Join(folder, objectName))
	if err != nil {
		return nil, log, fmt.Errorf("compile %s: %w", src.Name, err)
	}
	return packImage(c.digest, object), log, nil
}

// Names in the folder of a compilation. Sources and their headers lie below source, so they can't
// be mistaken for these.
const (
	sourceFolder = "source"
	headerFolder = "cudaemu"
	unitName     = "kernel.o"
	objectName   = "kernel.so"
)

// lay writes the source, its headers and the emulation's into folder.
func lay(folder string, src driver.Source) error {
	include := filepath.Join(folder, headerFolder)
	if err := os.Mkdir(include, 0o700); err != nil {
		return err
	}
	if err := writeHeaders(include); err != nil {
		return err
	}
	if err := writeSource(folder, src.Name, withEntries(src)); err != nil {
		return err
	}
	for name, text := range src.Headers {
		if err := writeSource(folder, name, text); err != nil {
			return err
		}
	}
	return nil
}

func writeSource(folder, name, text string) error {
	if !filepath.IsLocal(name) || name == "." {
		return fmt.Errorf("file name %q leaves the folder", name)
	}
	path := filepath.Join(folder, sourceFolder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func (c *compiler) compileArguments(src driver.Source) []string {
	args := []string{
		"-c", "-x", "c++", "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden",
		"-nostdinc++", "-fno-exceptions", "-fno-rtti", // as under NVRTC, which has no standard library
		"-fsigned-char",        // as on a device, also where this processor's char is unsigned
		"-fno-strict-aliasing", // CUDA's compilers do not rely on types either
		"-ffp-contract=off",    // a*b+c rounds twice, as in Go and as kernels are compiled for a device
		"-Wall", "-Wextra",
		"-Wno-unknown-pragmas", // #pragma unroll
		"-I" + sourceFolder,
		"-include", filepath.Join(headerFolder, "cudaemu.h"),
		// Messages name the source as NVRTC's do.
		"-fmacro-prefix-map=" + sourceFolder + "/=",
	}
	if c.options.Undefined {
		args = append(args, "-fsanitize=undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined",
			"-DCUDAEMU_SANITIZE")
	}
	for _, define := range src.Defines {
		args = append(args, "-D"+define)
	}
	return append(args, "-o", unitName, filepath.Join(sourceFolder, src.Name))
}

// run returns what the compiler said.
func (c *compiler) run(folder string, args []string) (string, error) {
	cmd := exec.Command(c.command, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.ReplaceAll(out.String(), sourceFolder+"/", ""), err
}
