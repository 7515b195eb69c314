package gpu

import (
	"fmt"
	"time"
)

// A Known is a value that a card may refuse to tell, as virtual machines often do.
type Known[T any] struct {
	Value T
	OK    bool // false: the card does not say
}

// String is the value, or "unknown".
func (k Known[T]) String() string {
	if !k.OK {
		return "unknown"
	}
	return fmt.Sprint(k.Value)
}

// Link is a PCI Express link.
type Link struct {
	Generation Known[int] // 5: PCI Express 5.0
	Width      Known[int] // lanes
}

// String is "PCIe 5.0 x16", or "unknown".
func (l Link) String() string {
	if !l.Generation.OK || !l.Width.OK {
		return "unknown"
	}
	return fmt.Sprintf("PCIe %d.0 x%d", l.Generation.Value, l.Width.Value)
}

// Usage is what a card does at a moment, for whatever process.
type Usage struct {
	At     time.Time
	Name   Known[string]
	Driver Known[string] // "580.95.05"

	MemoryBytes     Known[int64]
	MemoryUsedBytes Known[int64] // with what the driver keeps for itself
	BusyPercent     Known[int]   // of the driver's last sample period, up to a second: a kernel ran
	MemoryPercent   Known[int]   // of the same: memory was read or written

	Celsius        Known[int]
	Watts          Known[float64]
	WattsMax       Known[float64] // what the card is held to
	ClockMHz       Known[int]     // of the multiprocessors
	ClockMaxMHz    Known[int]
	MemoryClockMHz Known[int]
	// why the clock is not higher, other than for want of work; none: it is not held back
	Throttled Known[[]string]

	Link, LinkMax Link // an idle card slows its link down, so Link says little then
}
