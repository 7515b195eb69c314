//go:build linux && cgo

package emu

import (
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
	"github.com/vibeflight/vibeflight/gpu/internal/driver/drivertest"
)

func TestContract(t *testing.T) {
	c, err := NewCompiler(CompilerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, func(t *testing.T) driver.Driver {
		t.Helper()
		d, err := Open(Options{MemoryBytes: 256 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}, c)
}
