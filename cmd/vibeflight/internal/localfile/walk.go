package localfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// File is a file of a known format.
type File struct {
	Path     string
	Format   string
	Bytes    int64
	Modified time.Time
}

// Walk returns the files of a known format below a folder, or the file at path. prefix is compared
// with paths relative to the folder, as a server would name them. Walk follows no link to a folder,
// and skips hidden folders. It skips a folder below root that can't be read, and calls leftOut.
func Walk(
	ctx context.Context, root, prefix, format string, leftOut func(path string, err error),
) ([]File, error) {
	formats := all.Formats()
	if _, known := formats.ByName(format); format != "" && !known {
		return nil, usage.Errorf("--format: no format %q%s; known are %s", format,
			usage.DidYouMean(format, formatNames(formats)), FormatNames(formats))
	}
	if remote.IsURL(root) {
		return walkStore(ctx, formats, root, prefix, format)
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() && !IsBundle(root) {
		root += string(filepath.Separator) // a link to a folder is that folder
	}
	var files []File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) && path != root && d.IsDir() {
			if leftOut != nil {
				leftOut(path, err)
			}
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		hidden := path != root && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && hidden {
			return fs.SkipDir
		}
		f, whole := readers.Format{}, false
		if d.IsDir() {
			f, whole = bundleFormat(formats, path)
		}
		if d.IsDir() && !whole || hidden {
			return nil
		}
		info, err := os.Stat(path)
		if path != root && (err != nil || !info.Mode().IsRegular() && !whole) {
			return nil // a dangling link, a socket
		}
		if err != nil {
			return err
		}
		if path != root && isSibling(formats, path) {
			return nil
		}
		ok := whole
		if !whole {
			if f, ok, err = detectFormat(ctx, formats, path); err != nil {
				return err
			}
		}
		if !ok && path == root {
			return noFormatError(formats, path)
		}
		below, err := filepath.Rel(root, path)
		if !ok || err != nil || format != "" && f.Name != format ||
			!strings.HasPrefix(filepath.ToSlash(below), prefix) {
			if whole && err == nil {
				err = fs.SkipDir
			}
			return err
		}
		file := File{path, f.Name, info.Size(), info.ModTime()}
		if !whole {
			files = append(files, file)
			return nil
		}
		src, err := source.OpenBundle(path, path, f.Bundle)
		if err == nil {
			file.Bytes, file.Modified = src.Identity.Size, src.Modified
			files, err = append(files, file), src.Close()
		}
		if err != nil {
			return err
		}
		return fs.SkipDir
	})
	return files, err
}

// isSibling reports whether the file at path belongs to another one, as a .dbf to a .shp.
func isSibling(formats readers.Registry, path string) bool {
	return slices.ContainsFunc(formats.MainsOf(path), func(main string) bool {
		info, err := os.Stat(main)
		return err == nil && info.Mode().IsRegular()
	})
}
