package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// asker answers queries: a server, or an engine of its own.
type asker interface {
	query(ctx context.Context, text string) (rowStream, error)
	close()
}

func (c *sqlConfig) open(ctx context.Context, paths []string) (asker, error) {
	if c.from.server.address != "" {
		return c.from.server.dial()
	}
	return c.openLocal(ctx, paths)
}

// query asks a server for the rows of a query.
func (r *remote) query(ctx context.Context, text string) (rowStream, error) {
	client := flightsql.Client{Client: r.client}
	info, err := client.Execute(ctx, text)
	if err != nil {
		return nil, r.problem(err)
	}
	s := &remoteRows{remote: r, total: info.GetTotalRecords()}
	for _, e := range info.GetEndpoint() {
		s.tickets = append(s.tickets, e.GetTicket())
	}
	if len(s.tickets) == 0 {
		return nil, fmt.Errorf("%s: the server gave no endpoint for the query", r.address)
	}
	return s, s.open(ctx)
}

// localSQL is an engine over the files of this machine.
type localSQL struct {
	files  *catalog.Catalog
	engine *sqlEngine
}

func (c *sqlConfig) openLocal(ctx context.Context, paths []string) (*localSQL, error) {
	options, err := parseOptions(c.from.options)
	if err != nil {
		return nil, err
	}
	limits, err := c.from.parse.limits()
	if err != nil {
		return nil, err
	}
	roots, err := rootsOf(paths)
	if err != nil {
		return nil, err
	}
	memory, err := machineMemory()
	if err != nil {
		return nil, err
	}
	l := &localSQL{}
	l.files, err = catalog.Open(ctx, catalog.Config{
		Roots: roots, Formats: all.Formats(), MemoryBytes: memory / 2, MaxUnpacked: int64(c.from.parse.unpackedBytes),
		Limits:  limits,
		Options: optionsOfNamed(paths, options), Log: zerolog.Nop(),
	})
	if err != nil {
		return nil, err
	}
	if l.engine, err = c.engine.open(l.files, spillBelow(defaultCacheDir()), false, zerolog.Nop()); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// optionsOfNamed gives the options of files below folders. The format is that of the files alone
// that paths name, since a file stands for its folder.
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

// close ends what was opened. Nothing was written that an error could be about.
func (l *localSQL) close() {
	if l.engine != nil {
		_ = l.engine.close()
	}
	_ = l.files.Close()
}

// rootsOf are the folders that paths name as DIR or ALIAS=DIR; a file stands for its folder, and
// nothing for the current one.
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
		return catalog.Root{}, wrongUsage("%w", err)
	}
	return root, nil
}

func (l *localSQL) query(ctx context.Context, text string) (rowStream, error) {
	statement, err := l.engine.Prepare(ctx, text, "")
	if err != nil {
		return nil, err
	}
	rows, err := statement.Query(ctx, nil, 0)
	if err != nil {
		statement.Close()
		return nil, err
	}
	return &engineRows{statement, rows}, nil
}

// engineRows are the rows of a statement as a rowStream.
type engineRows struct {
	statement *engine.Statement
	result    *engine.Rows
}

func (r *engineRows) schema() *arrow.Schema                          { return r.result.Schema() }
func (r *engineRows) rows() int64                                    { return -1 }
func (r *engineRows) next(ctx context.Context) (arrow.Record, error) { return r.result.Next(ctx) }

func (r *engineRows) close() {
	r.result.Close()
	r.statement.Close()
}
