//go:build !(cuda && cgo && linux && (amd64 || arm64))

package gpu

import "fmt"

// A Meter reads what devices do. This build has none.
type Meter struct{}

// OpenMeter refuses: this build has no CUDA, so it has no NVML.
func OpenMeter() (*Meter, error) { return nil, fmt.Errorf("%w: this build has no NVML", ErrNoDevice) }

// Read refuses as OpenMeter does.
func (*Meter) Read(string) (Usage, error) {
	return Usage{}, fmt.Errorf("%w: this build has no NVML", ErrNoDevice)
}

// Close does nothing.
func (*Meter) Close() error { return nil }
