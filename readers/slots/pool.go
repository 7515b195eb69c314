// Package slots has what GPUs need to parse chunks of text, whatever their format: slots with
// memory for text and a stream, memory for the work on chunks, and page-locked memory for
// transfers. It is allocated once and shared by all formats, file by file and chunk by chunk.
//
//	file --pread, several at once--> ring --stream--> text of a slot
//	text of a slot --kernels--> columns --stream--> results --> batches
//
// It knows bytes, slots and devices, but no row and no format. Package readers/internal/device runs
// a format's parser on it.
package slots

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// Config has the limits of device memory, and a callback for faults. Its zero value has the
// defaults.
type Config struct {
	// Memory is how many bytes of device memory may be taken on each device, for all formats
	// together; 0: the smaller of DefaultMemory and a quarter of the device's (--gpu-memory).
	Memory int64

	// Fault is called for each fault of a device, with its DeviceName: a call that failed, memory
	// that ran out, a device that is gone. The CPU engine parses the rows in question, so the
	// callers notice nothing. Several goroutines may call it; it may be nil.
	Fault func(device string, err error)

	// Tables is how many bytes of device memory, in addition to Memory, tables may take on each
	// device that other processes can read; 0 or less: none (--gpu-tables).
	Tables int64

	// Plan overrides what each device allocates. Only tests set it.
	Plan Plan
}

// DefaultMemory is the default limit of device memory, on a device that has at least four times as
// much.
const DefaultMemory = 1 << 30

// of returns how many bytes of a device may be used.
func (c Config) of(device *kernels.Set) int64 {
	if c.Memory > 0 {
		return c.Memory
	}
	return min(DefaultMemory, device.Device().Info().MemoryBytes/4)
}

// DeviceName names a device among those of a host, in logs and statistics: "GPU 0, NVIDIA H200".
func DeviceName(device *kernels.Set) string {
	info := device.Device().Info()
	return fmt.Sprintf("GPU %d, %s", info.Ordinal, info.Name)
}

// Pool lends the slots of devices. Chunks wait for a slot of any device, in order: files share
// devices by chunks, and devices share a file. Several goroutines may call its methods.
type Pool struct {
	chunk   int64 // text of a chunk
	devices []*poolDevice
	free    queue[*Slot]
	alive   atomic.Int64 // slots that are not lost
	fault   func(device string, err error)
	tables  *resident.Store // nil: no table stays on a device
}

// Open allocates on each device the memory that cfg allows, and some 440 MiB of page-locked memory.
// There is at least one device. The caller closes the pool, and then the devices.
func Open(devices []*kernels.Set, cfg Config) (*Pool, error) {
	plan := cfg.Plan
	if plan == (Plan{}) {
		smallest := cfg.of(devices[0])
		for _, k := range devices[1:] {
			smallest = min(smallest, cfg.of(k))
		}
		var err error
		if plan, err = planFor(smallest); err != nil {
			return nil, err
		}
	}
	p := &Pool{chunk: plan.ChunkBytes, fault: cfg.Fault}
	for _, k := range devices {
		c, err := openDevice(k, plan, len(devices))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("memory for chunks of %d bytes: %w", plan.ChunkBytes, err), p.Close())
		}
		p.devices = append(p.devices, c)
	}
	if cfg.Tables > 0 {
		var err error
		if p.tables, err = resident.Open(devices, cfg.Tables); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	for i := range plan.Slots { // devices alternate
		for _, c := range p.devices {
			p.free.give(c.slots[i])
		}
	}
	p.alive.Store(int64(len(devices) * plan.Slots))
	return p, nil
}

// Close frees everything, including what formats keep in slots. No file may be in progress.
func (p *Pool) Close() error {
	var err error
	if p.tables != nil {
		err = p.tables.Close()
	}
	for _, c := range p.devices {
		err = errors.Join(err, c.close())
	}
	p.devices, p.tables = nil, nil
	return err
}

// Tables returns the tables that stay on the devices, or nil.
func (p *Pool) Tables() *resident.Store { return p.tables }

// ChunkBytes returns the size of a chunk's text. A slot holds a little more: the rest of the
// chunk's last row.
func (p *Pool) ChunkBytes() int64 { return p.chunk }

// Alive returns the number of slots that are not lost.
func (p *Pool) Alive() int { return int(p.alive.Load()) }

// Take waits for a slot, for a chunk at an offset of a file. Files take turns; among the chunks of
// a file, the first one in the file gets the slot. It returns false if no device is left.
func (p *Pool) Take(file any, at int64) (l *Slot, ok bool) { return p.free.take(file, at) }

// Give returns a slot. err is an error of its device, or nil; Config.Fault is called with
// it. A slot whose device was lost is not lent again. With the last one, all calls of Take fail.
func (p *Pool) Give(l *Slot, err error) {
	if err != nil && p.fault != nil {
		p.fault(DeviceName(l.device.k), err)
	}
	if !errors.Is(err, gpu.ErrLost) {
		p.free.give(l)
		return
	}
	if p.alive.Add(-1) == 0 {
		p.free.shutDown()
	}
}
