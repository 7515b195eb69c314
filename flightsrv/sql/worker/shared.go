//go:build linux

package worker

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SharedBuffers is buffers in a memory file. Workers map it and need no copy.
type SharedBuffers struct {
	mapping *mapping
	file    *os.File // open while it is mapped
	parts   [][]byte
}

// places are the buffers of all Shared in use, by the address of their first byte.
var places struct {
	sync.RWMutex
	of map[*byte]sharedPlace
}

// sharedPlace is the location of a shared buffer: its file, offset and length.
type sharedPlace struct {
	file     File
	at, size int64
}

// Share copies buffers to memory that workers can map. The caller has the first reference.
func Share(buffers ...[]byte) (*SharedBuffers, error) {
	b := &body{}
	at := make([]int64, len(buffers))
	for i, part := range buffers {
		at[i] = b.add(part)
	}
	fd, err := memoryFile(nil, b)
	if err != nil {
		return nil, err
	}
	s := &SharedBuffers{file: os.NewFile(uintptr(fd), fmt.Sprintf("/proc/self/fd/%d", fd))}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, closeAfter(s.file, os.NewSyscallError("fstat", err))
	}
	if s.mapping, err = mapFile(fd); err != nil {
		return nil, closeAfter(s.file, err)
	}
	file := File{s.file.Name(), uint64(st.Dev), st.Ino}
	places.Lock()
	defer places.Unlock()
	if places.of == nil {
		places.of = map[*byte]sharedPlace{}
	}
	for i, part := range buffers {
		to := at[i] + int64(len(part))
		s.parts = append(s.parts, s.mapping.bytes[at[i]:to:to])
		if len(part) > 0 {
			places.of[unsafe.SliceData(s.parts[i])] = sharedPlace{file, at[i], int64(len(part))}
		}
	}
	s.mapping.end = s.end
	return s, nil
}

func closeAfter(f *os.File, err error) error {
	_ = f.Close() // the first error tells more
	return err
}

// Part returns buffer i. It is readable while there is a reference.
func (s *SharedBuffers) Part(i int) []byte { return s.parts[i] }

// Retain adds a reference, unless the Shared is nil.
func (s *SharedBuffers) Retain() {
	if s != nil {
		s.mapping.retain()
	}
}

// Release removes a reference, unless the Shared is nil. The last one frees the memory, except in
// workers that map it.
func (s *SharedBuffers) Release() {
	if s != nil {
		s.mapping.release()
	}
}

// end is called before the mapping ends.
func (s *SharedBuffers) end() {
	places.Lock()
	for _, part := range s.parts {
		if len(part) > 0 {
			delete(places.of, unsafe.SliceData(part))
		}
	}
	places.Unlock()
	_ = s.file.Close() // of a file in memory
}

// sharedFile returns the file of a shared buffer, and the offset in it.
func sharedFile(buffer []byte) (f File, at int64, ok bool) {
	places.RLock()
	defer places.RUnlock()
	p, ok := places.of[unsafe.SliceData(buffer)]
	return p.file, p.at, ok && int64(len(buffer)) <= p.size
}
