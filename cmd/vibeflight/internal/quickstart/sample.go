// Package quickstart has what a first hour needs: a file of sample data, free ports, a browser, and
// programs to paste that read the file from the server.
package quickstart

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// SampleFile is the name of the sample data.
const SampleFile = "countries.geojson"

// countries are those of Natural Earth, in the public domain: SOURCE.md says where they are from.
//
//go:embed countries.geojson.gz
var countries []byte

// WriteSample writes the sample data to a folder, which it makes if need be. A file of that name stays
// as it is. written reports whether there was none.
func WriteSample(folder string) (written bool, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return false, err
	}
	packed, err := gzip.NewReader(bytes.NewReader(countries))
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		return false, err
	}
	f, err := os.OpenFile(filepath.Join(folder, SampleFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(text)
	return err == nil, errors.Join(err, f.Close())
}
