// Package project has the primitives that move positions from one coordinate reference system to
// another. They give the bits of package readers/crs/project.
package project

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/crs/project"
)

// names are those of the kernels, by the kind of a step.
var names = [...]string{
	project.ToMercator: "project_to_mercator", project.FromMercator: "project_from_mercator",
	project.ToTransverse: "project_to_transverse", project.FromTransverse: "project_from_transverse",
}

// projectArgs is ProjectArgs of project.cu.
type projectArgs struct {
	n          int64
	parameters [len(project.Params{})]float64
}

// Positions transforms positions in place. One that has no image becomes infinite, one with a NaN
// becomes NaN.
//
// A launch for each step, which reads and writes 16 bytes a position.
func Positions(k *kernels.Set, s *gpu.Stream, x, y gpu.Buffer[float64], t *project.Transformation) error {
	w := k.Begin(s, "project positions")
	n := kernels.CountSpans(w, x, y)
	for kind, parameters := range t.Steps() {
		if w.Err != nil || n == 0 {
			break
		}
		args := projectArgs{n, parameters}
		w.Launch(names[kind], kernels.Blocks(n, kernels.Block), kernels.Block, x.Arg(), y.Arg(), gpu.Struct(&args))
	}
	return w.Done()
}
