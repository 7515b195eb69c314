// Package localfile reads files of this machine without a server: the files below a folder, their
// formats and layers, and their tables, within the limits of the flags.
package localfile

import (
	"fmt"
	"os"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// SplitLayer splits FILE#LAYER into the file and the layer, unless a file has the whole name.
func SplitLayer(name string) (path, layer string) {
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	for i := range len(name) {
		if name[i] != '#' {
			continue
		}
		if info, err := os.Stat(name[:i]); err == nil && info.Mode().IsRegular() {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// Detect returns the format of the file at path.
func Detect(path string) (readers.Format, error) {
	formats := all.Formats()
	if _, err := os.Stat(path); err != nil {
		return readers.Format{}, err
	}
	f, ok, err := detectFormat(formats, path)
	if err == nil && !ok {
		err = noFormatError(formats, path)
	}
	return f, err
}

// detectLayer returns the format of a layer of a file; "" is the first one. The layers of an
// archive may have different formats.
func detectLayer(path, layer string) (readers.Format, error) {
	f, err := Detect(path)
	if err != nil || layer == "" {
		return f, err
	}
	_, tables, _, err := all.Formats().Inspect(path, func() (*source.File, error) { return source.Open(path, path) })
	if err != nil {
		return f, err
	}
	var layers []string
	for _, t := range tables {
		if t.Layer == layer {
			return t.Format, nil
		}
		layers = append(layers, t.Layer)
	}
	switch {
	case tables != nil:
		err = &readers.NoLayerError{Name: path, Layer: layer, Layers: layers}
	case !f.Layered:
		err = fmt.Errorf("%s: a %s file has no layers", path, f.Name)
	}
	return f, err
}

// Choose returns the format of a layer of the file at path, and its options. The options may name
// the format.
func Choose(path, layer string, options map[string]any) (f readers.Format, opts readers.Options, err error) {
	if _, named := options[readers.OptionFormat]; named {
		_, err = os.Stat(path)
	} else {
		f, err = detectLayer(path, layer)
	}
	if err != nil {
		return f, opts, err
	}
	f, rest, err := all.Formats().Choose(f, options)
	if err == nil && layer != "" && len(rest) < len(options) && !f.Layered {
		err = fmt.Errorf("%s: a %s file has no layers", path, f.Name)
	}
	if err == nil {
		opts, err = f.ParseOptions(rest)
	}
	return f, opts, err
}

func detectFormat(formats readers.Registry, path string) (readers.Format, bool, error) {
	return formats.Detect(path, func() (*source.File, error) { return source.Open(path, path) })
}

func noFormatError(formats readers.Registry, path string) error {
	return fmt.Errorf("%s: is of no format that vibeflight reads; it reads %s. --option format=csv reads it as one "+
		"of them", path, FormatNames(formats))
}

// FormatNames lists the names of formats for a message.
func FormatNames(formats readers.Registry) string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
