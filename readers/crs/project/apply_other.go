//go:build !amd64

package project

func (s *step) apply(x, y, toX, toY []float64) { s.scalar(x, y, toX, toY) }
