package catalog

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
)

// CachedTable is a table that lies in a cache folder.
type CachedTable struct {
	Key string `json:"key"` // its file is called so
	// the data file that it was parsed from last; "" if that is not known, or the server's limits
	// were not the default ones
	File   string    `json:"file,omitempty"`
	Layer  string    `json:"layer,omitempty"` // of the data file, where that has several
	Format string    `json:"format,omitempty"`
	Rows   int64     `json:"rows,omitempty"`
	Bytes  int64     `json:"bytes"`
	Used   time.Time `json:"used"` // last, to a minute
}

// ListCache gives the tables of a cache folder, those used last first. Servers may be using them. A
// folder without tables stays as it is.
func ListCache(ctx context.Context, path string, formats readers.Registry, log zerolog.Logger) (tables []CachedTable,
	err error,
) {
	if _, err := os.Stat(filepath.Join(path, tablesFolder)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	a, err := openArchive(files.OS{}, path, math.MaxInt64, readers.Limits{}, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	known, layers := map[cachedir.Key]store.Record{}, map[cachedir.Key]string{}
	err = a.store.All(ctx, func(r store.Record) error {
		f, ok := formats.ByName(r.Format)
		if ok && r.Content != nil {
			k := a.recordKey(f, r.Name, r)
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

// ClearCache removes the tables of a cache folder, and gives how many they were and of how many
// bytes. A server that uses one goes on with it.
func ClearCache(path string, log zerolog.Logger) (tables int, bytes int64, err error) {
	if _, err := os.Stat(filepath.Join(path, tablesFolder)); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	a, err := openArchive(files.OS{}, path, math.MaxInt64, readers.Limits{}, log)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return a.dir.Clear()
}
