//go:build linux && cgo

package emu

import (
	"fmt"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Handles are numbers that are never used twice, so that one that was closed is always known as
// such.

func newHandle[H ~uintptr, T any](d *device, table map[H]*T, value *T) (H, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, errClosed()
	}
	d.last++
	table[H(d.last)] = value
	return H(d.last), nil
}

func lookUp[H ~uintptr, T any](d *device, table map[H]*T, h H, what string) (*T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, ok := table[h]
	if !ok {
		return nil, unknown(what, uintptr(h))
	}
	return value, nil
}

func closeHandle[H ~uintptr, T any](d *device, table map[H]*T, h H, what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := table[h]; !ok {
		return unknown(what, uintptr(h))
	}
	delete(table, h)
	return nil
}

func unknown(what string, h uintptr) error {
	return &driver.Error{Call: what, Detail: fmt.Sprint(h), Name: "closed, or never opened"}
}
