// Package project has the primitives that move positions from one coordinate reference system to
// another. They give the bits of package readers/crs/project.
package project

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Parameters is the number of parameters of a step.
const Parameters = 19

// Kind is a projection or its inverse, numbered as in package readers/crs/project.
type Kind uint8

// The kinds of steps.
const (
	ToMercator Kind = iota
	FromMercator
	ToTransverse
	FromTransverse
)

var names = [...]string{
	ToMercator: "project_to_mercator", FromMercator: "project_from_mercator",
	ToTransverse: "project_to_transverse", FromTransverse: "project_from_transverse",
}

// Step is a projection or its inverse, with its parameters.
type Step struct {
	Kind       Kind
	Parameters [Parameters]float64
}

// projectArgs is ProjectArgs of project.cu.
type projectArgs struct {
	n          int64
	parameters [Parameters]float64
}

// Positions moves positions by steps, in place. One that has no image becomes infinite, one with a NaN
// becomes NaN.
//
// A launch for each step, which reads and writes 16 bytes a position.
func Positions(k *kernels.Set, s *gpu.Stream, x, y gpu.Buffer[float64], steps []Step) error {
	w := k.Begin(s, "project positions")
	n := kernels.CountSpans(w, x, y)
	for _, step := range steps {
		w.Need(int(step.Kind) < len(names), "a step of kind %d", step.Kind)
		if w.Err != nil || n == 0 {
			break
		}
		args := projectArgs{n, step.Parameters}
		w.Launch(names[step.Kind], kernels.Blocks(n, kernels.Block), kernels.Block, x.Arg(), y.Arg(), gpu.Struct(&args))
	}
	return w.Done()
}
