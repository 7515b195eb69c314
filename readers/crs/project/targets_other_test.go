//go:build !amd64

package project

// stepsOfTargets are the functions of this processor that do a step, by the name of the target.
func stepsOfTargets() map[string]func(s *step, x, y, toX, toY []float64) {
	return map[string]func(s *step, x, y, toX, toY []float64){"scalar": (*step).scalar}
}
