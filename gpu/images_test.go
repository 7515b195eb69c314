package gpu

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestImagesArchive(t *testing.T) {
	list := []Image{
		{Key: "b", Arch: "sm_80", Bytes: bytes.Repeat([]byte("cubin"), 1000)},
		{Key: "a", Arch: "sm_90", Bytes: []byte{0}},
		{Key: "a", Arch: "compute_80", Bytes: []byte("ptx")},
		{Key: "c", Arch: "sm_80", Bytes: nil},
	}
	var archive, again bytes.Buffer
	must(t, WriteImages(&archive, list))
	slices.Reverse(list)
	must(t, WriteImages(&again, list))
	if !bytes.Equal(archive.Bytes(), again.Bytes()) {
		t.Error("another order of the images gives another archive")
	}
	if archive.Len() > 2000 {
		t.Errorf("%d bytes: not compressed", archive.Len())
	}
	found, err := ReadImages(archive.Bytes())
	must(t, err)
	for _, image := range list {
		if got, ok := found.Image(image.Key, image.Arch); !ok || !bytes.Equal(got, image.Bytes) {
			t.Errorf("image %s/%s: %q, %v, want %q", image.Key, image.Arch, got, ok, image.Bytes)
		}
	}
	for _, none := range [][2]string{{"a", "sm_80"}, {"", ""}, {"a/sm_90", ""}, {"", "a/sm_90"}} {
		if _, ok := found.Image(none[0], none[1]); ok {
			t.Errorf("there is an image %q", none)
		}
	}
	if err := WriteImages(&again, append(list, list[0])); err == nil || !strings.Contains(err.Error(),
		"two images of") {
		t.Errorf("two images of one name: %v", err)
	}
}

// TestDamagedArchive flips every byte: an image is then as it was, or there is none.
func TestDamagedArchive(t *testing.T) {
	want := []byte("a cubin, a cubin, a cubin")
	var archive bytes.Buffer
	must(t, WriteImages(&archive, []Image{{Key: "a", Arch: "sm_90", Bytes: want}}))
	for i := range archive.Len() {
		damaged := bytes.Clone(archive.Bytes())
		damaged[i] ^= 0x5a
		found, err := ReadImages(damaged)
		if err != nil {
			continue
		}
		if got, ok := found.Image("a", "sm_90"); ok && !bytes.Equal(got, want) {
			t.Errorf("byte %d flipped: image %q", i, got)
		}
	}
	if _, err := ReadImages(archive.Bytes()[:archive.Len()-1]); err == nil {
		t.Error("an archive that is cut off is opened")
	}
}
