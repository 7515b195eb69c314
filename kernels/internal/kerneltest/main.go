package kerneltest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// launched counts the launches of the kernels of a folder over all tests.
var launched = struct {
	sync.Mutex
	folder  string
	kernels map[string]int64
}{kernels: map[string]int64{}}

// countLaunches adds what a test launched.
func countLaunches(k *kernels.Set) {
	launched.Lock()
	defer launched.Unlock()
	launches := k.Launches()
	for _, name := range k.NamesIn(launched.folder) {
		launched.kernels[name] += launches[name]
	}
}

// Main is the TestMain of a folder's tests. It fails a run of all tests that does not launch every
// kernel of the folder.
func Main(m *testing.M, folder string) {
	launched.folder = folder
	flag.Parse()
	code := m.Run()
	total, unused := int64(0), []string{}
	for _, name := range slices.Sorted(maps.Keys(launched.kernels)) {
		if total += launched.kernels[name]; launched.kernels[name] == 0 {
			unused = append(unused, name)
		}
	}
	fmt.Printf("kernels: %d of %d launched, %d launches\n", len(launched.kernels)-len(unused),
		len(launched.kernels), total)
	all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == ""
	if all && len(launched.kernels) > 0 && len(unused) > 0 && code == 0 {
		fmt.Printf("kernels: no test launches %v\n", unused)
		code = 1
	}
	os.Exit(code)
}
