//go:build cuda && cgo && linux && (amd64 || arm64)

package loader

import (
	"bytes"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write entrypoints.h anew")

// TestEntryPoints compares entrypoints.h with what the packages that call the driver refer to once
// they are compiled. A name that is missing here would not always be a link error: go-nvml asks the
// linker to bear undefined symbols, and calling one of those is a jump to address 0.
func TestEntryPoints(t *testing.T) {
	wanted := referredTo(t, "gorgonia.org/cu", "github.com/vibeflight/vibeflight/gpu/internal/cuda")
	if len(wanted) < 100 || !slices.Contains(wanted, "cuInit") {
		t.Fatalf("the packages refer to %d entry points: %v", len(wanted), wanted)
	}
	var list strings.Builder
	fmt.Fprint(&list, "// Entry points of libcuda.so.1 that gorgonia.org/cu and package cuda call. Written by go "+
		"test -tags cuda -run EntryPoints -update.\n")
	for _, name := range wanted {
		if name == "cuInit" {
			fmt.Fprintf(&list, "ENTRY_INIT(%s)\n", name)
			continue
		}
		fmt.Fprintf(&list, "ENTRY(%s)\n", name)
	}
	if *update {
		if err := os.WriteFile("entrypoints.h", []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("entrypoints.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) == list.String() {
		return
	}
	listed := regexp.MustCompile(`\((\w+)\)`).FindAllStringSubmatch(string(have), -1)
	names := make([]string, len(listed))
	for i, m := range listed {
		names[i] = m[1]
		if !slices.Contains(wanted, m[1]) {
			t.Errorf("%s is listed, and nobody calls it", m[1])
		}
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			t.Errorf("%s is called, and not listed", name)
		}
	}
	t.Errorf("entrypoints.h is not what it should be: run go test -tags cuda -run EntryPoints -update")
}

// referredTo gives the driver's entry points that the compiled packages leave undefined, sorted.
// One of them that another defines is not among them: gorgonia.org/cu has C functions of its own
// that are named like the driver's.
func referredTo(t *testing.T, packages ...string) []string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to compile the packages with")
	}
	cmd := exec.Command(tool, append([]string{"list", "-tags", "cuda", "-export", "-f", "{{.Export}}"}, packages...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -export: %v\n%s", err, stderr.String())
	}
	defined, undefined := map[string]bool{}, map[string]bool{}
	for _, path := range strings.Fields(string(out)) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		objects(t, file, func(symbols []elf.Symbol) {
			for _, s := range symbols {
				if s.Section == elf.SHN_UNDEF {
					undefined[s.Name] = true
				} else if elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
					defined[s.Name] = true
				}
			}
		})
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	entry := regexp.MustCompile(`^cu[A-Z]`)
	var names []string
	for name := range undefined {
		if entry.MatchString(name) && !defined[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// objects calls visit for each ELF object of an archive of the form that ar(5) and the Go compiler
// write:
//
//	"!<arch>\n", then for each member a header of 60 bytes with its size in decimal at 48, and its bytes,
//	padded to an even length
func objects(t *testing.T, archive io.ReadSeeker, visit func([]elf.Symbol)) {
	t.Helper()
	all, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := bytes.CutPrefix(all, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("not an archive")
	}
	for len(rest) >= 60 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || size > len(rest)-60 {
			t.Fatalf("archive member of %q bytes", rest[48:58])
		}
		member := rest[60 : 60+size]
		if bytes.HasPrefix(member, []byte(elf.ELFMAG)) {
			object, err := elf.NewFile(bytes.NewReader(member))
			if err != nil {
				t.Fatal(err)
			}
			symbols, err := object.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			visit(symbols)
		}
		rest = rest[min(60+size+size&1, len(rest)):]
	}
}
