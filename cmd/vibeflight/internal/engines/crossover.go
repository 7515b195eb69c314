package engines

import (
	"errors"
	"math"
)

// fileTimes are the times of one file.
type fileTimes struct {
	Bytes       int64   `json:"bytes"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	CUDASeconds float64 `json:"cuda_seconds"`
}

// line is the time of an engine: seconds = start + perByte * bytes.
type line struct{ start, perByte float64 }

// lineThrough returns the line through the times of two files.
func lineThrough(smallBytes, largeBytes int64, small, large float64) line {
	perByte := (large - small) / float64(largeBytes-smallBytes)
	return line{small - perByte*float64(smallBytes), perByte}
}

// measurement is the times of two files. All others are derived from them.
type measurement struct {
	Small fileTimes `json:"small"`
	Large fileTimes `json:"large"`
}

// check refuses impossible values: the file may be damaged.
func (m measurement) check() error {
	for _, t := range []fileTimes{m.Small, m.Large} {
		for _, seconds := range []float64{t.CPUSeconds, t.CUDASeconds} {
			if !(seconds > 0) || math.IsInf(seconds, 1) {
				return errors.New("no time")
			}
		}
	}
	if m.Small.Bytes <= 0 || m.Small.Bytes >= m.Large.Bytes {
		return errors.New("no two sizes")
	}
	return nil
}

// crossover is the size at which the lines of the engines meet, rounded up to MiB; none if the
// device's line is the steeper one. Files below the small one were not measured, so none of them
// goes to a device.
//
//	seconds         cpu
//	      │        ╱  ╭ cuda
//	      │   __ ╱--──╯
//	      │--──╱│
//	      │  ╱  │
//	      └─────┴──────── bytes
func (m measurement) crossover() crossover {
	cpu := lineThrough(m.Small.Bytes, m.Large.Bytes, m.Small.CPUSeconds, m.Large.CPUSeconds)
	cuda := lineThrough(m.Small.Bytes, m.Large.Bytes, m.Small.CUDASeconds, m.Large.CUDASeconds)
	if !(cuda.perByte < cpu.perByte) {
		return crossover{never: "the GPU is not faster here"}
	}
	const mib = 1 << 20
	meet := math.Ceil((cuda.start-cpu.start)/(cpu.perByte-cuda.perByte)/mib) * mib
	if !(meet < 1<<60) {
		return crossover{never: "the GPU is not faster here"}
	}
	return crossover{from: max(int64(meet), m.Small.Bytes)}
}
