//go:build cuda && cgo && linux && (amd64 || arm64)

package loader

/*
#cgo LDFLAGS: -L${SRCDIR}/lib -Wl,--as-needed -ldl
#include "loader.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
)

// ErrNoLibrary says that there is no libcuda.so.1, or that it cannot be loaded. The wrapping error
// has the words of the dynamic loader.
var ErrNoLibrary = errors.New("no CUDA driver library")

// InitError is the code with which the driver's cuInit refused, as CUresult: 100 is a driver
// without a device.
type InitError int

func (e InitError) Error() string { return fmt.Sprintf("cuInit: error %d", int(e)) }

// Open loads the driver's library and initializes it. It does so once for the process: every call
// gives the first one's answer. From then on the entry points are the driver's. One that this
// driver lacks answers CUDA_ERROR_NOT_SUPPORTED.
func Open() error { return open() }

var open = sync.OnceValue(func() error {
	var reason [512]C.char
	if C.vf_loader_bind(&reason[0], C.size_t(len(reason))) != 0 {
		return fmt.Errorf("%w: %s", ErrNoLibrary, C.GoString(&reason[0]))
	}
	if code := C.vf_loader_init(); code != 0 {
		return InitError(code)
	}
	return nil
})
