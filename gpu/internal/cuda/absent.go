//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda

import (
	"fmt"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

var errBuild = fmt.Errorf("%w: this build has no CUDA", driver.ErrNoDevice)

// Count says that there is no device, since this build cannot use one.
func Count() (int, error) { return 0, errBuild }

// Open refuses: this build has no CUDA.
func Open(int) (driver.Driver, error) { return nil, errBuild }

// NVRTC refuses: this build has no CUDA.
func NVRTC(string) (driver.Compiler, error) { return nil, errBuild }
