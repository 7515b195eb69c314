//go:build !amd64 && !arm64

package extent

const (
	lanes = 1
	have  = false
)

// add is never called.
func add(*Box, *float64, *float64, int) {}
