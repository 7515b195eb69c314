package gpu

import (
	"fmt"
	"time"
)

// A Optional is a value that a device may refuse to tell, as virtual machines often do.
type Optional[T any] struct {
	Value T
	OK    bool // false: the device does not say
}

// String is the value, or "unknown".
func (k Optional[T]) String() string {
	if !k.OK {
		return "unknown"
	}
	return fmt.Sprint(k.Value)
}

// Link is a PCI Express link.
type Link struct {
	Generation Optional[int] // 5: PCI Express 5.0
	Width      Optional[int] // lanes
}

// String is "PCIe 5.0 x16", or "unknown".
func (l Link) String() string {
	if !l.Generation.OK || !l.Width.OK {
		return "unknown"
	}
	return fmt.Sprintf("PCIe %d.0 x%d", l.Generation.Value, l.Width.Value)
}

// Usage is what a device does at a moment, for whatever process.
type Usage struct {
	At     time.Time
	Name   Optional[string]
	Driver Optional[string] // "580.95.05"

	MemoryBytes     Optional[int64]
	MemoryUsedBytes Optional[int64] // with what the driver keeps for itself
	BusyPercent     Optional[int]   // of the driver's last sample period, up to a second: a kernel ran
	MemoryPercent   Optional[int]   // of the same: memory was read or written

	Celsius        Optional[int]
	Watts          Optional[float64]
	WattsMax       Optional[float64] // what the device is held to
	ClockMHz       Optional[int]     // of the multiprocessors
	ClockMaxMHz    Optional[int]
	MemoryClockMHz Optional[int]
	// why the clock is not higher, other than for want of work; none: it is not held back
	Throttled Optional[[]string]

	Link, LinkMax Link // an idle device slows its link down, so Link says little then
}
