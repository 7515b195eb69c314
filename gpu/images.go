package gpu

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"fmt"
	"io"
	"slices"
)

// Images are kernels compiled beforehand, found by the SourceKey of their source.
type Images interface {
	// Image returns the image of the source with that key for arch ("sm_90", "compute_90"), and
	// whether there is one.
	Image(key, arch string) ([]byte, bool)
}

// An Image is one source compiled for one architecture.
type Image struct {
	Key   string // SourceKey of the source
	Arch  string
	Bytes []byte
}

// maxImageBytes is more than any kernel's image has. An image that says it is larger is damaged.
const maxImageBytes = 64 << 20

// WriteImages writes an archive of images: a ZIP file with an entry "<key>/<arch>" for each. The
// same images give the same bytes, whatever their order.
func WriteImages(w io.Writer, images []Image) error {
	images = slices.SortedFunc(slices.Values(images), func(a, b Image) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Arch, b.Arch))
	})
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for i, image := range images {
		name := image.Key + "/" + image.Arch
		if i > 0 && image.Key == images[i-1].Key && image.Arch == images[i-1].Arch {
			return fmt.Errorf("two images of %s", name)
		}
		if len(image.Bytes) > maxImageBytes {
			return fmt.Errorf("image %s: %d bytes, more than %d", name, len(image.Bytes), maxImageBytes)
		}
		// no time: an archive is made again with the same bytes
		entry, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
		if _, err := entry.Write(image.Bytes); err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
	}
	return z.Close()
}

// ReadImages opens an archive that WriteImages made. Images are unpacked when they are asked for;
// archive is kept and must not change. An image that is damaged counts as none: it is compiled, as
// if it had never been there.
func ReadImages(archive []byte) (Images, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("archive of compiled kernels: %w", err)
	}
	entries := make(imageArchive, len(z.File))
	for _, entry := range z.File {
		entries[entry.Name] = entry
	}
	return entries, nil
}

// imageArchive are the entries of an archive by name.
type imageArchive map[string]*zip.File

// Image unpacks an entry.
func (entries imageArchive) Image(key, arch string) ([]byte, bool) {
	entry := entries[key+"/"+arch]
	if entry == nil || entry.UncompressedSize64 > maxImageBytes {
		return nil, false
	}
	r, err := entry.Open()
	if err != nil {
		return nil, false
	}
	defer r.Close()
	image := make([]byte, entry.UncompressedSize64)
	if _, err := io.ReadFull(r, image); err != nil {
		return nil, false
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF { // the end is where the checksum is compared
		return nil, false
	}
	return image, true
}
