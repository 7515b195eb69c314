//go:build linux && cgo

package emu

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What a kernel file is compiled with.
//
//go:embed include/*.h
var headers embed.FS

// headerDigest names the headers: an image that was built with others does not fit this runtime.
func headerDigest() (string, error) {
	h := sha256.New()
	err := eachHeader(func(name string, text []byte) error {
		_, err := fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}

// writeHeaders puts the headers into folder.
func writeHeaders(folder string) error {
	return eachHeader(func(name string, text []byte) error {
		return os.WriteFile(filepath.Join(folder, name), text, 0o600)
	})
}

func eachHeader(use func(name string, text []byte) error) error {
	entries, err := fs.ReadDir(headers, "include")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := headers.ReadFile("include/" + e.Name())
		if err != nil {
			return err
		}
		if err := use(e.Name(), text); err != nil {
			return err
		}
	}
	return nil
}
