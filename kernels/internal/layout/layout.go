// Package layout checks that structs which Go and CUDA share have one layout.
//
// A struct is shared if a kernel takes it, or a pointer to it. Go and CUDA each declare it once, and
// a test compares the two declarations. It compiles the CUDA source with a kernel that writes the
// size of the struct and the offset and size of each field, and launches that kernel.
//
// The names correspond: the Go struct columnArgs is the CUDA struct ColumnArgs, whatever the case of
// letters, and its field valueStart is value_start. A tag `cuda:"name"` gives a field another name.
// A gpu.Pointer[T] is a T*, an array an array, a struct a struct. Of a named Go type that is an
// array, such as tileRun [8]uint16, only the size is compared: Go does not read it.
package layout

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
)

// Check compares Go structs, and the structs that they contain or point to, with their CUDA
// declarations. It fails if a struct of the folder's sources that some kernel takes is not among
// them. The folder is a path from kernels/, "json"; "." is kernels itself.
func Check(t *testing.T, folder string, structs ...any) {
	t.Helper()
	sources, err := kernels.Sources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]reflect.Type{}
	for _, s := range structs {
		collect(t, reflect.TypeOf(s), all)
	}
	probes := map[string]*probe{} // by name of a source
	for _, name := range slices.Sorted(maps.Keys(all)) {
		src, inCUDA := definedIn(sources, folder, name)
		if inCUDA == "" {
			t.Errorf("no CUDA source has a struct for %s", all[name])
			continue
		}
		if probes[src.Name] == nil {
			probes[src.Name] = &probe{source: src}
		}
		probes[src.Name].addStruct(inCUDA, all[name])
	}
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	for _, name := range slices.Sorted(maps.Keys(probes)) {
		probes[name].run(t, d, s)
	}
	for _, use := range unchecked(sources, folder, all) {
		t.Error(use)
	}
}

// collect adds a struct, and what it contains and points to, by their names in CUDA.
func collect(t *testing.T, typ reflect.Type, all map[string]reflect.Type) {
	t.Helper()
	name := strings.ToLower(typ.Name())
	if known := all[name]; known != nil {
		if known != typ {
			t.Errorf("%s and %s have one name", known, typ)
		}
		return
	}
	all[name] = typ
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		of := typ.Field(i).Type
		if of.Kind() == reflect.Array && of.Name() == "" {
			of = of.Elem()
		}
		if to, ok := pointee(of); ok {
			of = to
		}
		if of.Name() != "" && of.Size() > 0 && (of.Kind() == reflect.Struct || of.Kind() == reflect.Array) {
			collect(t, of, all)
		}
	}
}

// pointee returns T for gpu.Pointer[T].
func pointee(typ reflect.Type) (reflect.Type, bool) {
	ours := reflect.TypeFor[gpu.Pointer[byte]]()
	if typ.Kind() != reflect.Struct || typ.PkgPath() != ours.PkgPath() || !strings.HasPrefix(typ.Name(), "Pointer[") {
		return nil, false
	}
	return typ.Field(0).Type.Elem().Elem(), true
}

// fieldName returns the name of a Go field in CUDA.
func fieldName(f reflect.StructField) string {
	if name := f.Tag.Get("cuda"); name != "" {
		return name
	}
	var b strings.Builder
	for i, c := range f.Name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// probe is a source with the structs that it defines.
type probe struct {
	source gpu.Source
	facts  []fact
}

// fact is a number that a Go type says, and a CUDA expression that must have the same value.
type fact struct {
	what, expression string
	want             uint64
}

func (p *probe) add(what string, want uintptr, expression string, args ...any) {
	p.facts = append(p.facts, fact{what, fmt.Sprintf(expression, args...), uint64(want)})
}

// addStruct adds the facts about a struct. Fields that only CUDA has show as a gap.
func (p *probe) addStruct(name string, typ reflect.Type) {
	p.add("size of "+name, typ.Size(), "sizeof(%s)", name)
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Name == "_" {
			continue
		}
		of, field := f.Type, fieldName(f)
		what, value := name+"."+field, fmt.Sprintf("((%s *)nullptr)->%s", name, field)
		// NVRTC has no offsetof
		p.add("offset of "+what, f.Offset,
			"(unsigned long long)&((%s *)out)->%s - (unsigned long long)out", name, field)
		p.add("size of "+what, of.Size(), "sizeof(%s)", value)
		if of.Kind() == reflect.Array && of.Name() == "" {
			of, value = of.Elem(), value+"[0]"
			p.add("size of an element of "+what, of.Size(), "sizeof(%s)", value)
		}
		if to, ok := pointee(of); ok && to.Size() > 0 {
			p.add("size of what "+what+" points to", to.Size(), "sizeof(*%s)", value)
		}
	}
}

// run compares the facts.
func (p *probe) run(t *testing.T, d *gpu.Device, s *gpu.Stream) {
	t.Helper()
	src := p.source
	var b strings.Builder
	// what is compiled here is not for speed
	b.WriteString("#ifdef CUDAEMU\n#pragma GCC optimize(\"O0\")\n#endif\n" + src.Text +
		"\nextern \"C\" __global__ void layout_probe(unsigned long long *out) {\n")
	for i, f := range p.facts {
		fmt.Fprintf(&b, "  out[%d] = %s;\n", i, f.expression)
	}
	b.WriteString("}\n")
	src.Text = b.String()
	built, err := d.Program(src)
	if errors.Is(err, gpu.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := built.Kernel("layout_probe")
	if err != nil {
		t.Fatal(err)
	}
	out, err := gpu.Alloc[uint64](s, len(p.facts))
	if err != nil {
		t.Fatal(err)
	}
	if err := kernel.Launch(s, gpu.Dim{Grid: 1, Block: 1}, out.Arg()); err != nil {
		t.Fatal(err)
	}
	got, err := gpu.Read(s, out)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range p.facts {
		if got[i] != f.want {
			t.Errorf("%s: %s is %d in CUDA and %d in Go", p.source.Name, f.what, got[i], f.want)
		}
	}
	if err := out.Free(s); err != nil {
		t.Fatal(err)
	}
}

// definedIn finds a source that has a struct of that name, in itself or in a header: one of the
// folder, if there is one. It returns the struct's name with its letters as they are.
func definedIn(sources []gpu.Source, folder, name string) (src gpu.Source, inCUDA string) {
	for _, s := range sources {
		here := path.Dir(s.Name) == folder
		if inCUDA != "" && !here {
			continue
		}
		texts := []string{s.Text}
		for _, header := range s.Headers {
			texts = append(texts, header)
		}
		for _, text := range texts {
			for _, found := range anyStruct.FindAllStringSubmatch(text, -1) {
				if strings.EqualFold(found[1], name) {
					src, inCUDA = s, found[1]
				}
			}
		}
		if here && inCUDA != "" && src.Name == s.Name {
			break
		}
	}
	return src, inCUDA
}

var (
	anyStruct = regexp.MustCompile(`(?m)^struct (?:alignas\(\d+\) )?(\w+) \{`)
	anyKernel = regexp.MustCompile(`(?m)^KERNEL\s+(?:__launch_bounds__\([^()]*\)\s+)?(\w+)\(([^()]*)\)`)
	word      = regexp.MustCompile(`\w+`)
)

// Folders returns the folders whose sources define structs that kernels take.
func Folders() ([]string, error) {
	sources, err := kernels.Sources()
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, s := range taken(sources) {
		folders = append(folders, path.Dir(s.file))
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// unchecked lists the structs of a folder that kernels take and that are not among those of all.
func unchecked(sources []gpu.Source, folder string, all map[string]reflect.Type) []string {
	var uses []string
	for _, s := range taken(sources) {
		if path.Dir(s.file) == folder && all[strings.ToLower(s.name)] == nil {
			uses = append(uses, fmt.Sprintf("%s: %s, which %s takes, is not checked", s.file, s.name, s.kernel))
		}
	}
	return uses
}

// takenStruct is a struct in the parameters of a kernel, and the file that defines it.
type takenStruct struct{ name, file, kernel string }

func taken(sources []gpu.Source) []takenStruct {
	var list []takenStruct
	for _, src := range sources {
		defined := map[string]string{} // file, by name of a struct
		add := func(file, text string) {
			for _, found := range anyStruct.FindAllStringSubmatch(text, -1) {
				defined[found[1]] = file
			}
		}
		add(src.Name, src.Text)
		for file, text := range src.Headers {
			add(file, text)
		}
		for _, found := range anyKernel.FindAllStringSubmatch(src.Text, -1) {
			for _, name := range word.FindAllString(found[2], -1) {
				if file, ok := defined[name]; ok {
					list = append(list, takenStruct{name, file, found[1]})
				}
			}
		}
	}
	return list
}
