//go:build images

package kernels

import (
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/compile"
)

// TestImagesAreOfTheseSources finds an archive that was made before a source changed: such a build
// would look for NVRTC.
func TestImagesAreOfTheseSources(t *testing.T) {
	sources, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	images := CompiledIn()
	for _, src := range sources {
		for _, arch := range compile.Release() {
			if image, ok := images.Image(gpu.SourceKey(src), arch); !ok || len(image) == 0 {
				t.Errorf("no image of %s for %s: make images", src.Name, arch)
			}
		}
	}
}
