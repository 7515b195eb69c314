package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// entry is an entry in the list of tables. What only a parse can tell is null until then.
type entry struct {
	Name      string      `json:"name"`
	Format    string      `json:"format"`
	FileBytes int64       `json:"file_bytes"`
	Modified  time.Time   `json:"modified"`
	Rows      *int64      `json:"rows"`
	BBox      *[4]float64 `json:"bbox"` // xmin ymin xmax ymax, in the CRS of the table
	CRS       *string     `json:"crs"`
	Href      string      `json:"href"` // of the rows
}

// list is the answer of GET /v1/tables. Next is the path of the next page.
type list struct {
	Tables []entry `json:"tables"`
	Next   string  `json:"next,omitempty"`
}

// Sizes of a page of the list.
const (
	defaultPage = 1000
	maxPage     = 10_000
)

// list answers with the entries that the caller may describe, sorted by name, page by page.
func (a *handlers) list(ctx context.Context, w *httpcall.Writer, r *http.Request, _ httpcall.Call) error {
	q := r.URL.Query()
	limit := defaultPage
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return httpcall.BadRequest(fmt.Sprintf("limit %.40q: want 1 to %d", text, maxPage))
		}
		limit = n
	}
	after, answer := q.Get("after"), list{Tables: []entry{}}
	for e := range a.Catalog.Entries(ctx, q.Get("prefix"), q.Get("format")) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Name <= after {
			continue
		}
		if len(answer.Tables) == limit {
			q.Set("after", answer.Tables[limit-1].Name)
			answer.Next = "/v1/tables?" + q.Encode()
			break
		}
		one, err := a.entry(ctx, e)
		if err != nil {
			return err
		}
		answer.Tables = append(answer.Tables, one)
	}
	return writeJSON(w, answer)
}

func (a *handlers) entry(ctx context.Context, e *catalog.Entry) (entry, error) {
	l := entry{
		Name: e.Name, Format: e.Format, FileBytes: e.Size, Modified: e.Modified,
		Href: "/v1/tables/" + (&url.URL{Path: e.Name}).EscapedPath(),
	}
	table, scan, _, err := a.Catalog.Peek(ctx, e.Name, catalog.Selection{CRS84As: a.CRS84As})
	if err != nil || scan == nil {
		return l, err
	}
	about := metadata.OfTable(table, true)
	l.Rows, l.BBox, l.CRS = &table.Rows, about.BBox, about.CRS
	return l, nil
}
