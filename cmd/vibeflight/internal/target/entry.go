package target

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
)

// Entry is a line of ls.
type Entry struct {
	Name     string     `json:"name"`
	Format   string     `json:"format"`
	Bytes    *int64     `json:"bytes,omitempty"`    // of the file; unknown from a server
	Modified *time.Time `json:"modified,omitempty"` // unknown from a server
	Rows     *int64     `json:"rows,omitempty"`     // if a server has parsed the file
}

// List lists a server or files, sorted by name. It calls leftOut for folders that can't be read.
func List(
	ctx context.Context, server Server, paths []string, prefix, format string,
	leftOut func(path string, err error),
) ([]Entry, error) {
	var entries []Entry
	if server.Address != "" {
		r, err := server.Dial()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		if entries, err = r.list(ctx, prefix, format); err != nil {
			return nil, err
		}
	} else {
		if len(paths) == 0 {
			paths = []string{"."}
		}
		for _, path := range paths {
			found, err := localfile.Walk(ctx, path, prefix, format, leftOut)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				entries = append(entries, Entry{Name: f.Path, Format: f.Format, Bytes: &f.Bytes, Modified: &f.Modified})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}
