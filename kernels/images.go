//go:build images

package kernels

import (
	_ "embed"

	"github.com/vibeflight/vibeflight/gpu"
)

// `make images` writes it, from the sources next to it.
//
//go:embed images.zip
var archive []byte

// CompiledIn are the images that this build has of its kernels, for the architectures of
// compile.Release.
func CompiledIn() gpu.Images {
	images, err := gpu.ReadImages(archive)
	if err != nil {
		panic("kernels: images.zip: " + err.Error())
	}
	return images
}
