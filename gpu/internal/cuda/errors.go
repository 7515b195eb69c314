//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

// #include "calls.h"
import "C"

import (
	"fmt"
	"reflect"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// failed makes the error of a call that gave code, nil if that is success. detail is asked only of
// a call that failed.
func failed(code C.int, call string, detail func() string) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	err := &driver.Error{Call: call, Code: int(code), Kind: kind(code)}
	if name := C.vf_error_name(code); name != nil {
		err.Name = C.GoString(name)
	}
	if detail != nil {
		err.Detail = detail()
	}
	return err
}

// kind sorts out the codes that callers act upon.
func kind(code C.int) error {
	switch code {
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return driver.ErrMemory
	// After these the driver refuses all further work of the process, as their documentation in
	// cuda.h says ("the process must be terminated and relaunched"), or the device itself is not to
	// be had any more. An unknown error leaves nothing that can be trusted.
	case C.CUDA_ERROR_DEINITIALIZED,
		C.CUDA_ERROR_DEVICE_UNAVAILABLE,
		C.CUDA_ERROR_INVALID_CONTEXT,
		C.CUDA_ERROR_CONTEXT_IS_DESTROYED,
		C.CUDA_ERROR_ECC_UNCORRECTABLE,
		C.CUDA_ERROR_NVLINK_UNCORRECTABLE,
		C.CUDA_ERROR_CONTAINED,
		C.CUDA_ERROR_ILLEGAL_ADDRESS,
		C.CUDA_ERROR_LAUNCH_TIMEOUT,
		C.CUDA_ERROR_ASSERT,
		C.CUDA_ERROR_HARDWARE_STACK_ERROR,
		C.CUDA_ERROR_ILLEGAL_INSTRUCTION,
		C.CUDA_ERROR_MISALIGNED_ADDRESS,
		C.CUDA_ERROR_INVALID_ADDRESS_SPACE,
		C.CUDA_ERROR_INVALID_PC,
		C.CUDA_ERROR_LAUNCH_FAILED,
		C.CUDA_ERROR_TENSOR_MEMORY_LEAK,
		C.CUDA_ERROR_MPS_CLIENT_TERMINATED,
		C.CUDA_ERROR_EXTERNAL_DEVICE,
		C.CUDA_ERROR_UNKNOWN:
		return driver.ErrLost
	}
	return nil
}

// wrapped makes the error of a call that went through gorgonia.org/cu, whose errors are the
// driver's codes in a type without a name.
func wrapped(err error, call string, detail func() string) error {
	if err == nil {
		return nil
	}
	if v := reflect.ValueOf(err); v.CanInt() {
		return failed(C.int(v.Int()), call, detail)
	}
	return fmt.Errorf("%s: %w", call, err)
}

// inBytes is the detail of a call about n bytes.
func inBytes(n int64) func() string {
	return func() string { return fmt.Sprintf("%d bytes", n) }
}
