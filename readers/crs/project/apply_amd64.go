package project

import "golang.org/x/sys/cpu"

//go:noescape
func mercatorForward512(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func mercatorInverse512(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func transverseForward512(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func transverseInverse512(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func mercatorForward256(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func mercatorInverse256(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func transverseForward256(x, y, toX, toY *float64, n int, p *Params, c *uint64)

//go:noescape
func transverseInverse256(x, y, toX, toY *float64, n int, p *Params, c *uint64)

// vectors are the steps for a number of positions at a time.
type vectors struct {
	positions int
	steps     [4]func(x, y, toX, toY *float64, n int, p *Params, c *uint64)
}

var (
	vectors512 = vectors{16, [4]func(x, y, toX, toY *float64, n int, p *Params, c *uint64){
		mercatorForward512, mercatorInverse512, transverseForward512, transverseInverse512,
	}}
	vectors256 = vectors{8, [4]func(x, y, toX, toY *float64, n int, p *Params, c *uint64){
		mercatorForward256, mercatorInverse256, transverseForward256, transverseInverse256,
	}}
)

// best is for this processor; nil: it has no vectors of doubles with FMA.
var best = func() *vectors {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		return &vectors512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return &vectors256
	}
	return nil
}()

func (s *step) apply(x, y, toX, toY []float64) {
	if best == nil {
		s.scalar(x, y, toX, toY)
		return
	}
	s.vectors(best, x, y, toX, toY)
}

// vectors does a step with vectors, and for the positions that are left without.
func (s *step) vectors(v *vectors, x, y, toX, toY []float64) {
	n := len(x) / v.positions * v.positions
	if n > 0 {
		v.steps[s.kind](&x[0], &y[0], &toX[0], &toY[0], n, &s.params, &constants[0])
	}
	s.scalar(x[n:], y[n:], toX[n:], toY[n:])
}
