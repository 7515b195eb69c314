//go:build unix

package project

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the time that the process has computed for.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it fails for other arguments only
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkApply measures positions per second of a core's time: with the processor's vectors, and
// without.
func BenchmarkApply(b *testing.B) {
	const n = 1 << 16
	x, y := positionsIn(n, 1)
	toX, toY := make([]float64, n), make([]float64, n)
	for _, to := range []string{"3857", "32632"} {
		forward := between(b, "4326", to)
		forward.Apply(x, y, toX, toY)
		inverse := between(b, to, "4326")
		for name, t := range map[string]*Transformation{"to": forward, "from": inverse} {
			fx, fy := x, y
			if t == inverse {
				fx, fy = toX, toY
			}
			outX, outY := make([]float64, n), make([]float64, n)
			for target, step := range stepsOfTargets() {
				b.Run(fmt.Sprintf("%s-%s/%s", name, to, target), func(b *testing.B) {
					b.SetBytes(16 * n)
					start := cpuTime()
					for range b.N {
						step(&t.steps[0], fx, fy, outX, outY)
					}
					b.ReportMetric(float64(n)*float64(b.N)/(cpuTime()-start).Seconds()/1e6, "Mpositions/s")
				})
			}
		}
	}
}
