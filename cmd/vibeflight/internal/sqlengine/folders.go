package sqlengine

import (
	"context"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
)

// Folders runs queries over the files of this machine. It opens the engine with the first query, and
// another one for queries with URLs, whose files are not among those of the folders.
type Folders struct {
	Engine *Flags
	From   *target.Flags
	Paths  []string

	plain  *Local
	urls   *Local // of the last query with URLs
	urlsOf string // that query
}

// Query runs a statement. The caller closes its rows before the next one.
func (f *Folders) Query(ctx context.Context, text string) (target.RowStream, error) {
	l, err := f.open(text)
	if err != nil {
		return nil, err
	}
	return l.Query(ctx, text)
}

// open returns the engine for a query. Its context is not that of the query: it lives on.
func (f *Folders) open(query string) (l *Local, err error) {
	ctx := context.Background()
	if _, datasets := urlsOf(query); len(datasets) > 0 {
		if f.urls == nil || f.urlsOf != query {
			f.closeURLs()
			f.urls, err = OpenLocal(ctx, f.Engine, f.From, f.Paths, query)
			f.urlsOf = query
		}
		return f.urls, err
	}
	if f.plain == nil {
		f.plain, err = OpenLocal(ctx, f.Engine, f.From, f.Paths, query)
	}
	return f.plain, err
}

func (f *Folders) closeURLs() {
	if f.urls != nil {
		f.urls.Close()
	}
	f.urls = nil
}

// Close closes the engines.
func (f *Folders) Close() {
	f.closeURLs()
	if f.plain != nil {
		f.plain.Close()
	}
}
