//go:build !images

package kernels

import "github.com/vibeflight/vibeflight/gpu"

// CompiledIn is nil: this build has no images of its kernels.
func CompiledIn() gpu.Images { return nil }
