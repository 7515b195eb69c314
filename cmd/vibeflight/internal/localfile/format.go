// Package localfile reads files without a server: the files below a folder, their formats and layers,
// and their tables, within the limits of the flags. A file is a path of this machine or a URL.
package localfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/nearest"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/stores"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Open opens the file at a path or URL, with the siblings that have one of the extensions.
func Open(ctx context.Context, path string, siblings ...string) (*source.File, error) {
	if remote.IsURL(path) {
		return stores.Open(ctx, path, siblings...)
	}
	return source.Open(path, path, siblings...)
}

// openAs opens the file of a format at a path or URL.
func openAs(ctx context.Context, path string, f readers.Format) (*source.File, error) {
	if f.Bundle.Names(path) && !remote.IsURL(path) {
		return source.OpenBundle(path, path, f.Bundle)
	}
	return Open(ctx, path, f.Siblings...)
}

// bundleFormat returns the format of a folder that is one file.
func bundleFormat(formats readers.Registry, path string) (readers.Format, bool) {
	if remote.IsURL(path) {
		return readers.Format{}, false
	}
	return formats.OfFolder(path, func(b source.Bundle) bool { return source.IsBundle(path, b) })
}

// exists returns why there is no file at a path. Of a URL that is known when it is opened.
func exists(path string) error {
	if remote.IsURL(path) {
		return nil
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return withNearest(path, err)
	}
	return err
}

// withNearest adds the file of the same folder that a mistyped name may stand for.
func withNearest(path string, err error) error {
	folder, base := filepath.Split(path)
	found, unread := os.ReadDir(filepath.Clean(folder))
	if unread != nil {
		return err
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name())
	}
	if near := nearest.Close(base, names); near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, folder+near)
	}
	return err
}

// SplitLayer splits FILE#LAYER into the file and the layer, unless a file has the whole name.
func SplitLayer(name string) (path, layer string) {
	if remote.IsURL(name) {
		path, layer, _ = strings.Cut(name, "#")
		return path, layer
	}
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	for i := range len(name) {
		if name[i] != '#' {
			continue
		}
		if info, err := os.Stat(name[:i]); err == nil &&
			(info.Mode().IsRegular() || info.IsDir() && IsBundle(name[:i])) {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// IsBundle reports whether the folder at a path is read as one file.
func IsBundle(path string) bool {
	_, ok := bundleFormat(all.Formats(), path)
	return ok
}

// Detect returns the format of the file at path.
func Detect(ctx context.Context, path string) (readers.Format, error) {
	formats := all.Formats()
	if err := exists(path); err != nil {
		return readers.Format{}, err
	}
	f, ok, err := detectFormat(ctx, formats, path)
	if err == nil && !ok {
		err = noFormatError(formats, path)
	}
	return f, err
}

// detectLayer returns the format of a layer of a file; "" is the first one. The layers of an
// archive may have different formats.
func detectLayer(ctx context.Context, path, layer string) (readers.Format, error) {
	f, err := Detect(ctx, path)
	if err != nil || layer == "" {
		return f, err
	}
	if f.Bundle.Names(path) {
		return f, nil
	}
	_, tables, _, err := all.Formats().Inspect(nameOf(path), func() (*source.File, error) { return Open(ctx, path) })
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
func Choose(ctx context.Context, path, layer string, options map[string]any) (
	f readers.Format, opts readers.Options, err error,
) {
	if _, named := options[readers.OptionFormat]; named {
		err = exists(path)
	} else {
		f, err = detectLayer(ctx, path, layer)
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

func detectFormat(ctx context.Context, formats readers.Registry, path string) (readers.Format, bool, error) {
	if f, ok := bundleFormat(formats, path); ok {
		return f, true, nil
	}
	return formats.Detect(nameOf(path), func() (*source.File, error) { return Open(ctx, path) })
}

// nameOf returns the name whose extension tells the format: of a URL without its options.
func nameOf(path string) string {
	if remote.IsURL(path) {
		return remote.Address(path)
	}
	return path
}

func noFormatError(formats readers.Registry, path string) error {
	return fmt.Errorf("%s: is of no format that vibeflight reads; it reads %s. --option format=csv reads it as one "+
		"of them", path, FormatNames(formats))
}

// FormatNames lists the names of formats for a message.
func FormatNames(formats readers.Registry) string { return strings.Join(formatNames(formats), ", ") }

func formatNames(formats readers.Registry) []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}
