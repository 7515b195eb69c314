//go:build cuda && cgo && linux && (amd64 || arm64)

package gpu

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// A Meter reads what devices do, through NVML. Its methods may be called from any goroutine.
type Meter struct {
	close sync.Once
}

// OpenMeter loads NVML, which comes with the driver. The error wraps ErrNoDevice where it is
// missing or finds no driver. The caller closes the meter.
func OpenMeter() (*Meter, error) {
	// After a failed Init nothing more may be called: functions of the library are unresolved, and
	// the first call of one ends the process.
	if code := nvml.Init(); code != nvml.SUCCESS {
		return nil, fmt.Errorf("%w: nvmlInit: %w", ErrNoDevice, code)
	}
	return &Meter{}, nil
}

// Close gives NVML back.
func (m *Meter) Close() error {
	code := nvml.SUCCESS
	m.close.Do(func() { code = nvml.Shutdown() })
	if code != nvml.SUCCESS {
		return fmt.Errorf("nvmlShutdown: %w", code)
	}
	return nil
}

// Read asks the device at pci, its bus id as Info.PCI has it, for all of Usage. What the device
// does not tell is unknown; an error says that there is no such device. It wraps ErrLost where the
// device is gone.
func (m *Meter) Read(pci string) (Usage, error) {
	device, code := nvml.DeviceGetHandleByPciBusId(pci)
	if code != nvml.SUCCESS {
		return Usage{}, fmt.Errorf("GPU %q: %w", pci, lost(code))
	}
	// Temperature and throttle reasons have newer functions too, which drivers before 570 and 535
	// lack.
	var r reading
	u := Usage{
		At:     time.Now(),
		Name:   ask(&r, "nvmlDeviceGetName", device.GetName),
		Driver: ask(&r, "nvmlSystemGetDriverVersion", nvml.SystemGetDriverVersion),
		Celsius: r.number("nvmlDeviceGetTemperature", func() (uint32, nvml.Return) {
			return device.GetTemperature(nvml.TEMPERATURE_GPU)
		}),
		Watts:    r.watts("nvmlDeviceGetPowerUsage", device.GetPowerUsage),
		WattsMax: r.watts("nvmlDeviceGetEnforcedPowerLimit", device.GetEnforcedPowerLimit),
		ClockMHz: r.number("nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) {
			return device.GetClockInfo(nvml.CLOCK_SM)
		}),
		ClockMaxMHz: r.number("nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) {
			return device.GetMaxClockInfo(nvml.CLOCK_SM)
		}),
		MemoryClockMHz: r.number("nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) {
			return device.GetClockInfo(nvml.CLOCK_MEM)
		}),
		Throttled: r.throttled(device),
		Link: Link{
			Generation: ask(&r, "nvmlDeviceGetCurrPcieLinkGeneration", device.GetCurrPcieLinkGeneration),
			Width:      ask(&r, "nvmlDeviceGetCurrPcieLinkWidth", device.GetCurrPcieLinkWidth),
		},
		LinkMax: Link{
			Generation: ask(&r, "nvmlDeviceGetMaxPcieLinkGeneration", device.GetMaxPcieLinkGeneration),
			Width:      ask(&r, "nvmlDeviceGetMaxPcieLinkWidth", device.GetMaxPcieLinkWidth),
		},
	}
	if k := ask(&r, "nvmlDeviceGetMemoryInfo", device.GetMemoryInfo); k.OK {
		u.MemoryBytes = Optional[int64]{int64(k.Value.Total), true}
		u.MemoryUsedBytes = Optional[int64]{int64(k.Value.Used), true}
	}
	if k := ask(&r, "nvmlDeviceGetUtilizationRates", device.GetUtilizationRates); k.OK {
		u.BusyPercent = Optional[int]{int(k.Value.Gpu), true}
		u.MemoryPercent = Optional[int]{int(k.Value.Memory), true}
	}
	if r.lost != nil {
		return Usage{}, fmt.Errorf("GPU %q: %w", pci, r.lost)
	}
	return u, nil
}

// reading is one Read under way.
type reading struct {
	lost error // the device went
}

// ask calls a function of NVML, if the driver's library has it: an unresolved one would end the
// process.
func ask[T any](r *reading, function string, call func() (T, nvml.Return)) Optional[T] {
	if nvml.Extensions().LookupSymbol(function) != nil {
		return Optional[T]{}
	}
	value, code := call()
	if code == nvml.SUCCESS {
		return Optional[T]{value, true}
	}
	if err := lost(code); errors.Is(err, ErrLost) {
		r.lost = fmt.Errorf("%s: %w", function, err)
	}
	return Optional[T]{}
}

// lost makes a code the error it is, and one that says that the device is gone ErrLost.
func lost(code nvml.Return) error {
	if code == nvml.ERROR_GPU_IS_LOST || code == nvml.ERROR_RESET_REQUIRED {
		return fmt.Errorf("%w: %w", ErrLost, code)
	}
	return code
}

// number asks for an integer.
func (r *reading) number(function string, call func() (uint32, nvml.Return)) Optional[int] {
	k := ask(r, function, call)
	return Optional[int]{int(k.Value), k.OK}
}

// watts asks for a power, which NVML tells in milliwatts.
func (r *reading) watts(function string, call func() (uint32, nvml.Return)) Optional[float64] {
	k := ask(r, function, call)
	return Optional[float64]{float64(k.Value) / 1000, k.OK}
}

// throttled asks why the clock is not higher. That the device has nothing to do is one of NVML's
// reasons, and none here.
func (r *reading) throttled(device nvml.Device) Optional[[]string] {
	k := ask(r, "nvmlDeviceGetCurrentClocksThrottleReasons", device.GetCurrentClocksThrottleReasons)
	if !k.OK {
		return Optional[[]string]{}
	}
	names := []string{}
	for _, reason := range []struct {
		bit  uint64
		name string
	}{
		{nvml.ClocksEventReasonApplicationsClocksSetting, "clocks set by the administrator"},
		{nvml.ClocksEventReasonSwPowerCap, "power limit"},
		{nvml.ClocksThrottleReasonHwSlowdown, "hardware slowdown"},
		{nvml.ClocksEventReasonSyncBoost, "sync boost"},
		{nvml.ClocksEventReasonSwThermalSlowdown, "temperature"},
		{nvml.ClocksThrottleReasonHwThermalSlowdown, "temperature, by hardware"},
		{nvml.ClocksThrottleReasonHwPowerBrakeSlowdown, "power brake"},
		{nvml.ClocksEventReasonDisplayClockSetting, "display clocks"},
	} {
		if k.Value&reason.bit != 0 {
			names = append(names, reason.name)
		}
	}
	return Optional[[]string]{names, true}
}
