package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The generated files are those of the description: go generate ./readers/crs/project writes them.
func TestFilesAreCurrent(t *testing.T) {
	want, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join("../../../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, text) {
			t.Errorf("%s is not what the description gives: go generate ./readers/crs/project", name)
		}
	}
}
