package drivertest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

func testResources(b *bench) {
	for _, name := range []string{"ordinal", "reverse256"} {
		r, err := b.Resources(b.kernel(name))
		b.must("Resources", err)
		if r.MaxThreads < 256 || r.Registers < 0 || r.LocalBytes < 0 || r.SharedBytes < 0 {
			b.Errorf("%s: %+v", name, r)
		}
	}
}

func testGlobals(b *bench) {
	out := b.alloc(4)
	for load := range 2 {
		f, err := b.Function(b.load(b.image), "visit")
		b.must("Function", err)
		for want := range uint32(3) {
			b.launch(f, driver.Dim{Grid: 1, Block: 1}, uint64(out))
			if got := words32(b.download(out, 4))[0]; got != want+1 {
				b.Errorf("load %d: visit %d, want %d", load, got, want+1)
			}
		}
	}
}

func testNoFunction(b *bench) {
	m := b.load(b.image)
	for _, name := range []string{"nowhere", "", "ordinal\x00tail"} {
		f, err := b.Function(m, name)
		if err == nil {
			b.Errorf("Function %q gives %#x", name, f)
		} else if name != "" && !strings.Contains(err.Error(), strings.TrimSuffix(name, "\x00tail")) {
			b.Errorf("the error does not name %q: %v", name, err)
		}
	}
}

func testBadImage(b *bench) {
	for name, image := range map[string][]byte{
		"empty":     {},
		"text":      []byte("this is no image"),
		"zeros":     make([]byte, 4096),
		"elf magic": append([]byte("\x7fELF"), make([]byte, 60)...),
		"half":      b.image[:len(b.image)/2],
	} {
		if m, err := b.Load(image); err == nil {
			b.Errorf("%s: Load gives %#x", name, m)
			b.closing("Unload", b.Unload(m))
		}
	}
	b.kernel("ordinal") // the good one still loads
}

func testHeaders(b *bench) {
	image, _, err := b.compiler.Compile(driver.Source{
		Name: "scaled.cu",
		Text: "#include \"scale.h\"\n" +
			"extern \"C\" __global__ void scaled(unsigned int* out) { *out = scale(ADDEND); }\n",
		Headers: map[string]string{
			"scale.h": "#include \"factor.h\"\n__device__ inline unsigned int scale(unsigned int v) { return v * " +
				"FACTOR; }\n",
			"factor.h": "#pragma once\n#define FACTOR 7\n",
			"unused.h": "#error nobody includes this\n",
		},
		Defines: []string{"ADDEND=6", "EMPTY="},
	}, b.Info().Arch)
	b.must("Compile", err)
	f, err := b.Function(b.load(image), "scaled")
	b.must("Function", err)
	out := b.alloc(4)
	b.launch(f, driver.Dim{Grid: 1, Block: 1}, uint64(out))
	if got := words32(b.download(out, 4))[0]; got != 42 {
		b.Errorf("got %d, want 42", got)
	}
}

func testSyntaxError(b *bench) {
	tests := []struct {
		name string
		text string
		want string // what the error says: file and line, as file(line) or file:line
	}{
		{"in the source", "\n\nextern \"C\" __global__ void broken() { nonsense; }\n", `broken\.cu[(:]3\b`},
		{"in a header", "#include \"wrong.h\"\n", `wrong\.h[(:]2\b`},
		{"no such header", "#include \"missing.h\"\n", `missing\.h`},
	}
	for _, tt := range tests {
		image, log, err := b.compiler.Compile(driver.Source{
			Name:    "broken.cu",
			Text:    tt.text,
			Headers: map[string]string{"wrong.h": "\nint f( { }\n"},
		}, b.Info().Arch)
		if err == nil {
			b.Errorf("%s: compiled to %d bytes", tt.name, len(image))
			continue
		}
		for what, text := range map[string]string{"error": err.Error(), "log": log} {
			if !regexp.MustCompile(tt.want).MatchString(text) {
				b.Errorf("%s: the %s does not say %s: %s", tt.name, what, tt.want, fmt.Sprintf("%.300s", text))
			}
		}
	}
}
