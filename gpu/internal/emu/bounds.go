//go:build linux && cgo

package emu

import (
	"fmt"
	"regexp"
	"strings"
)

// launchBounds finds kernels that say of how many threads a block is at most:
// __launch_bounds__(most, blocks) name(
var launchBounds = regexp.MustCompile(`__launch_bounds__\(\s*([^,()]+?)\s*(?:,[^()]*)?\)\s*(\w+)\s*\(`)

// boundsPrefix begins the name of the number of threads that a kernel allows.
const boundsPrefix = "cudaemu_most_"

// withBounds adds these numbers to a source. A device refuses a launch beyond them, and so does the
// emulation.
func withBounds(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, found := range launchBounds.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&b, "\nextern \"C\" __global__ const int %s%s = %s;", boundsPrefix, found[2], found[1])
	}
	b.WriteByte('\n')
	return b.String()
}
