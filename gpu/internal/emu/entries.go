//go:build linux && cgo

package emu

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// What is added to a source for each of its kernels begins with one of these, and ends with the
// kernel's name.
const (
	callPrefix   = "cudaemu_call_"  // calls the kernel
	sizesPrefix  = "cudaemu_sizes_" // gives the sizes of its parameters
	boundsPrefix = "cudaemu_most_"  // is the number of threads that its launch bounds allow
)

// kernelMacro finds macros that begin the declaration of a kernel.
var kernelMacro = regexp.MustCompile(`(?m)^#define[ \t]+(\w+)[ \t]+[^\n]*__global__[ \t]+void[ \t]*$`)

// kernelPattern finds the kernels that src defines, with the number of threads of their launch
// bounds:
//
//	extern "C" __global__ void __launch_bounds__(threads, blocks) name(
//	KERNEL name(
//
// The second form follows #define KERNEL extern "C" __global__ void.
func kernelPattern(src driver.Source) *regexp.Regexp {
	heads := []string{`__global__\s+void`}
	for _, text := range append([]string{src.Text}, headerTexts(src)...) {
		for _, found := range kernelMacro.FindAllStringSubmatch(text, -1) {
			heads = append(heads, regexp.QuoteMeta(found[1]))
		}
	}
	return regexp.MustCompile(`(?m)^[^/\n]*\b(?:` + strings.Join(heads, "|") +
		`)\s+(?:__launch_bounds__\(\s*([^,()]+?)\s*(?:,[^()]*)?\)\s*)?(\w+)\s*\(`)
}

func headerTexts(src driver.Source) []string {
	var texts []string
	for _, text := range src.Headers {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

// withEntries adds to a source how its kernels are called, and how many threads they allow: a device
// refuses a launch with more, and so does the emulation.
func withEntries(src driver.Source) string {
	var b strings.Builder
	b.WriteString(src.Text)
	b.WriteByte('\n')
	for _, found := range kernelPattern(src).FindAllStringSubmatch(src.Text, -1) {
		fmt.Fprintf(&b, "CUDAEMU_ENTRY(%s)\n", found[2])
		if found[1] != "" {
			fmt.Fprintf(&b, "extern \"C\" __global__ const int %s%s = %s;\n", boundsPrefix, found[2], found[1])
		}
	}
	return b.String()
}
