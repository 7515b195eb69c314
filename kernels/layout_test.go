package kernels_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) { layout.Check(t, ".", kernels.FetchArgs{}) }

// TestEveryLayoutIsChecked fails where a folder has structs that kernels take, and no test of their
// layout.
func TestEveryLayoutIsChecked(t *testing.T) {
	if _, err := os.Stat("layout_test.go"); err != nil {
		t.Skip("the sources are not on this machine: make test compares the list of folders with them")
	}
	folders, err := layout.Folders()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "layout_test.go")); err != nil {
			t.Error(err)
		}
	}
}
