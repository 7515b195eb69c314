//go:build deps

// Package gpu will hold the CUDA runtime; this file pins the two modules that it stands on.
package gpu

import (
	_ "github.com/NVIDIA/go-nvml/pkg/nvml"
	_ "gorgonia.org/cu"
)
