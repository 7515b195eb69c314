package project

import "golang.org/x/sys/cpu"

// stepsOfTargets are the functions of this processor that do a step, by the name of the target.
func stepsOfTargets() map[string]func(s *step, x, y, toX, toY []float64) {
	all := map[string]func(s *step, x, y, toX, toY []float64){"scalar": (*step).scalar}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all["avx2"] = func(s *step, x, y, toX, toY []float64) { s.vectors(&vectors256, x, y, toX, toY) }
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
		all["avx512"] = func(s *step, x, y, toX, toY []float64) { s.vectors(&vectors512, x, y, toX, toY) }
	}
	return all
}
