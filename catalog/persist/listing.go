package persist

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
)

// CachedTable describes a table in a cache folder.
type CachedTable struct {
	Key string `json:"key"` // the name of its file
	// the data file that it was parsed from last; "" if that is not known, or the server's limits
	// were not the defaults
	File   string    `json:"file,omitempty"`
	Layer  string    `json:"layer,omitempty"` // of the data file, if that has several
	Format string    `json:"format,omitempty"`
	Rows   int64     `json:"rows,omitempty"`
	Bytes  int64     `json:"bytes"`
	Used   time.Time `json:"used"` // last, to a minute
}

// ListCache returns the tables of a cache folder, most recently used first. Servers may be using
// them. A folder without tables is left unchanged.
func ListCache(ctx context.Context, path string, formats readers.Registry, log zerolog.Logger) (tables []CachedTable,
	err error,
) {
	if _, err := os.Stat(filepath.Join(path, tablesFolder)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	a, err := Open(files.OS{}, path, math.MaxInt64, readers.Limits{}, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	known, layers := map[cachedir.Key]store.Record{}, map[cachedir.Key]string{}
	err = a.store.All(ctx, func(r store.Record) error {
		f, ok := formats.ByName(r.Format)
		if ok && r.Content != nil {
			k := a.RecordKey(f, r.Name, r)
			layers[k], _ = recordLayer(f, r)
			known[k] = r
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, info := range a.dir.List() {
		r := known[info.Key]
		tables = append(tables, CachedTable{
			Key: info.Key.String(), File: r.Name, Layer: layers[info.Key],
			Format: r.Format, Rows: r.Rows, Bytes: info.Bytes, Used: info.Used,
		})
	}
	return tables, nil
}

// ClearCache removes the tables of a cache folder, and returns their number and their bytes. A
// server that uses a table keeps it until it is released.
func ClearCache(path string, log zerolog.Logger) (tables int, bytes int64, err error) {
	if _, err := os.Stat(filepath.Join(path, tablesFolder)); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	a, err := Open(files.OS{}, path, math.MaxInt64, readers.Limits{}, log)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.dir.Clear()
}

// recordHasLayer reports whether a record is of a layer, "" being the first one.
func recordHasLayer(f readers.Format, r store.Record, layer string) bool {
	options, ok := recordOptions(f, r)
	return ok && job.LayerOptions(options, layer) == r.Options
}

// recordLayer returns the layer that a record is of, if its file has several.
func recordLayer(f readers.Format, r store.Record) (layer string, ok bool) {
	options, ok := recordOptions(f, r)
	if !ok || len(r.Layers) < 2 {
		return "", false
	}
	for i, layer := range r.Layers {
		of := layer
		if i == 0 {
			of = ""
		}
		if job.LayerOptions(options, of) == r.Options {
			return layer, true
		}
	}
	return "", false
}

// recordOptions returns the digest of a record's options, as the format understands them now.
func recordOptions(f readers.Format, r store.Record) (digest [32]byte, ok bool) {
	var given map[string]any
	if err := json.Unmarshal([]byte(r.OptionsJSON), &given); err != nil {
		return digest, false
	}
	options, err := f.ParseOptions(given)
	return options.Digest(), err == nil
}
