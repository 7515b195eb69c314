package gpu

import (
	"errors"
	"fmt"
	"testing"
)

func TestKnown(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"known", Optional[int]{41, true}.String(), "41"},
		{"unknown", Optional[int]{41, false}.String(), "unknown"},
		{"none of a list", Optional[[]string]{nil, true}.String(), "[]"},
		{"link", Link{Optional[int]{5, true}, Optional[int]{16, true}}.String(), "PCIe 5.0 x16"},
		{"half a link", Link{Optional[int]{5, true}, Optional[int]{}}.String(), "unknown"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

// readMeter prints what the library in LD_LIBRARY_PATH tells.
func readMeter(string) error {
	m, err := OpenMeter()
	if err != nil {
		fmt.Printf("OpenMeter: %v, no device %v\n", err, errors.Is(err, ErrNoDevice))
		return nil
	}
	for _, pci := range []string{"0000:1B:00.0", "0000:FF:00.0"} {
		u, err := m.Read(pci)
		if err != nil {
			fmt.Printf("Read: %v, lost %v\n", err, errors.Is(err, ErrLost))
			continue
		}
		fmt.Println(u.Name, u.Driver, u.MemoryUsedBytes, u.MemoryBytes, u.BusyPercent, u.Celsius, u.Watts, u.WattsMax,
			u.ClockMHz, u.ClockMaxMHz, u.MemoryClockMHz, u.Throttled, u.Link, u.LinkMax)
	}
	return errors.Join(m.Close(), m.Close())
}
