package engines

import (
	"math"
	"testing"
)

func TestCrossover(t *testing.T) {
	const mib = 1 << 20
	// at returns what two engines take for files of 80 and 240 MiB: start and seconds a MiB.
	at := func(cpuStart, cpu, cudaStart, cuda float64) measurement {
		file := func(n float64) fileTimes { return fileTimes{int64(n * mib), cpuStart + cpu*n, cudaStart + cuda*n} }
		return measurement{file(80), file(240)}
	}
	const never = "cpu, because the GPU is not faster here"
	tests := []struct {
		name string
		m    measurement
		want string
	}{
		{"the lines meet between the files", at(0, 0.001, 0.07475, 0.0005), "cuda from 150 MiB on"},
		{"and after them", at(0, 0.001, 0.99975, 0.0005), "cuda from 2000 MiB on"},
		{"a part of a MiB is rounded up", at(0, 0.001, 0.0752, 0.0005), "cuda from 151 MiB on"},
		{"before the small file nothing is known", at(0, 0.001, 0.001, 0.0001), "cuda from 80 MiB on"},
		{"the device is faster from the start", at(0.1, 0.001, 0.01, 0.0001), "cuda from 80 MiB on"},
		{"a byte costs the same", at(0, 0.001, 0, 0.001), never},
		{"a byte costs more on the device, which starts faster", at(0.1, 0.001, 0, 0.002), never},
		{"the small file took longer than the large one on the processor", at(1, -0.001, 0.2, 0.001), never},
		{
			"they meet beyond any file",
			measurement{fileTimes{1, 1, 2}, fileTimes{1 << 40, 2, math.Nextafter(3, 0)}},
			never,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.m.crossover().String(); got != tt.want {
				t.Errorf("%+v: %q, want %q", tt.m, got, tt.want)
			}
		})
	}
}

func TestCheckRefusesWhatNoClockGives(t *testing.T) {
	good := measurement{fileTimes{10, 1, 1}, fileTimes{20, 2, 2}}
	if err := good.check(); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	for _, m := range []measurement{
		{},
		{fileTimes{10, 0, 1}, fileTimes{20, 2, 2}},
		{fileTimes{10, 1, 1}, fileTimes{20, 2, -2}},
		{fileTimes{10, 1, math.NaN()}, fileTimes{20, 2, 2}},
		{fileTimes{10, 1, 1}, fileTimes{20, math.Inf(1), 2}},
		{fileTimes{20, 1, 1}, fileTimes{20, 2, 2}},
		{fileTimes{0, 1, 1}, fileTimes{20, 2, 2}},
	} {
		if m.check() == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
}
