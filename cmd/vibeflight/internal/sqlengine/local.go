package sqlengine

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/host"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/stores"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/remote"
)

// Local is an engine over the files of this machine.
type Local struct {
	files  *catalog.Catalog
	engine *Engine
}

// OpenLocal opens an engine over the folders of paths, and over the files whose URLs are in a query.
// Without either, it is over the current folder.
func OpenLocal(ctx context.Context, c *Flags, from *target.Flags, paths []string, query string) (*Local, error) {
	options, err := localfile.ParseOptions(from.Options)
	if err != nil {
		return nil, err
	}
	limits, err := from.Limits.Limits()
	if err != nil {
		return nil, err
	}
	_, datasets := urlsOf(query)
	var roots []catalog.Root
	if len(datasets) == 0 || len(paths) > 0 {
		if roots, err = rootsOf(paths); err != nil {
			return nil, err
		}
	}
	memory, err := host.Memory()
	if err != nil {
		return nil, err
	}
	l := &Local{}
	l.files, err = catalog.Open(ctx, catalog.Config{
		Roots: roots, Formats: all.Formats(), MemoryBytes: memory / 2, MaxUnpacked: int64(from.Limits.UnpackedBytes),
		Limits:  limits,
		Options: optionsOfNamed(paths, options), Log: zerolog.Nop(),
		Datasets: datasets,
		Store: func(ctx context.Context, url string) (*remote.Root, error) {
			return stores.Openers().Open(ctx, url, remote.Options{Unpack: from.Limits.Unpacking()})
		},
	})
	if err != nil {
		return nil, err
	}
	if l.engine, err = c.Open(l.files, SpillBelow(settings.DefaultCacheDir()), false, zerolog.Nop()); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// optionsOfNamed returns the options of files below folders. A format applies only to files that
// paths name, since such a file stands for its folder.
func optionsOfNamed(paths []string, options map[string]any) func(name string) map[string]any {
	others := maps.Clone(options)
	delete(others, readers.OptionFormat)
	return func(name string) map[string]any {
		for _, p := range paths {
			if path.Base(filepath.ToSlash(p)) == path.Base(name) {
				return options
			}
		}
		return others
	}
}

// Close closes the engine and the catalog. It ignores errors, since nothing was written.
func (l *Local) Close() {
	if l.engine != nil {
		_ = l.engine.Close()
	}
	_ = l.files.Close()
}

// rootsOf returns the folders that paths name as DIR or ALIAS=DIR. A file stands for its folder,
// and no path for the current one.
func rootsOf(paths []string) ([]catalog.Root, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var roots []catalog.Root
	seen := map[catalog.Root]bool{}
	for _, path := range paths {
		root, err := rootOf(path)
		if err != nil {
			return nil, err
		}
		if !seen[root] {
			roots = append(roots, root)
		}
		seen[root] = true
	}
	return roots, nil
}

func rootOf(path string) (catalog.Root, error) {
	if remote.IsURL(path) {
		return catalog.ParseRoot(path)
	}
	info, err := os.Stat(path)
	if err != nil && !strings.Contains(path, "=") {
		return catalog.Root{}, err
	}
	if err == nil && info.Mode().IsRegular() {
		dir, err := filepath.Abs(filepath.Dir(path))
		return catalog.Root{Dir: dir}, err
	}
	root, err := catalog.ParseRoot(path)
	if err != nil {
		return catalog.Root{}, usage.Errorf("%w", err)
	}
	return root, nil
}

// Query runs a statement. The caller closes its rows.
func (l *Local) Query(ctx context.Context, text string) (target.RowStream, error) {
	text, _ = urlsOf(text)
	statement, err := l.engine.Prepare(ctx, text, "")
	if err != nil {
		return nil, placed(err)
	}
	rows, err := statement.Query(ctx, nil, 0)
	if err != nil {
		statement.Close()
		return nil, placed(err)
	}
	return &engineRows{statement, rows}, nil
}

// engineRows are the rows of a statement as a RowStream.
type engineRows struct {
	statement *engine.Statement
	result    *engine.Rows
}

func (r *engineRows) Schema() *arrow.Schema { return r.result.Schema() }
func (r *engineRows) Rows() int64           { return -1 }
func (r *engineRows) Next(ctx context.Context) (arrow.Record, error) {
	rec, err := r.result.Next(ctx)
	return rec, placed(err)
}

func (r *engineRows) Close() {
	r.result.Close()
	r.statement.Close()
}
