//go:build !linux || !cgo

package emu

import (
	"fmt"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

var errBuild = fmt.Errorf("%w: the emulation needs Linux and a build with cgo", driver.ErrNoDevice)

// Open returns driver.ErrNoDevice: this build has no emulation.
func Open(Options) (driver.Driver, error) { return nil, errBuild }

// NewCompiler returns driver.ErrNoDevice: this build has no emulation.
func NewCompiler(CompilerOptions) (driver.Compiler, error) { return nil, errBuild }
