//go:build linux

package worker

import (
	"bytes"
	"os"
	"testing"
)

// TestShare checks that shared buffers are found by their address until the last reference is
// released.
func TestShare(t *testing.T) {
	one, two := bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, 100_000)
	s, err := Share(one, nil, two)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.Part(0), one) || len(s.Part(1)) != 0 || !bytes.Equal(s.Part(2), two) {
		t.Error("the parts are not the buffers")
	}
	file, at, ok := sharedFile(s.Part(2))
	if !ok {
		t.Fatal("a shared buffer is not found")
	}
	content, err := os.ReadFile(file.Name)
	if err != nil || !bytes.Equal(content[at:at+int64(len(two))], two) {
		t.Errorf("the file of a buffer: %v, or other bytes", err)
	}
	if _, _, ok := sharedFile(two); ok {
		t.Error("a buffer is found that was not shared")
	}
	s.Retain()
	s.Release()
	if !file.hasName() {
		t.Error("the file is gone before the last release")
	}
	part := s.Part(0)
	s.Release()
	if _, _, ok := sharedFile(part); ok || file.hasName() {
		t.Error("the buffer is still shared after the last release")
	}
}
