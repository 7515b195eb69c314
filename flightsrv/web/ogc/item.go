package ogc

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/export"
)

// item answers with one feature.
func (h *handlers) item(ctx context.Context, q *request) error {
	t, err := h.open(ctx, access.Read, q.path.collection)
	if err != nil {
		return err
	}
	defer t.release()
	if err := q.only("crs", "properties"); err != nil {
		return err
	}
	if err := t.checkPlaces(); err != nil {
		return err
	}
	row := q.path.feature
	if row >= t.Rows {
		return notFound(fmt.Sprintf("the collection has no feature %d", row))
	}
	s := query{limit: 1, from: row}
	if s.columns, err = q.properties(t); err != nil {
		return err
	}
	if s.system, err = h.system(q, t, "crs"); err != nil {
		return err
	}
	if uri := uriOf(s.system); uri != "" {
		q.w.Header().Set("Content-Crs", "<"+uri+">")
	}
	p := &pageWriter{handlers: h, request: q, query: &s, table: t}
	if err := p.find(ctx); err != nil {
		return h.Catalog.Known(ctx, q.path.collection, err)
	}
	links := append(q.selfLinks(typeGeoJSON),
		link{q.collectionURL(q.path.collection), "collection", typeJSON, "The collection"})
	err = p.each(ctx, func(rec arrow.Record, rows []int64) error {
		if q.html {
			return p.sendFeature(rec, row, links)
		}
		features, err := export.NewNumbered(rec.Schema())
		if err != nil {
			return err
		}
		b, err := features.AppendNumbered(nil, rows[0], rec, 0)
		if err != nil {
			return valueError(row, err)
		}
		text, err := marshal(links)
		if err != nil {
			return err
		}
		b = slices.Concat(b[:len(b)-1], []byte(`,"links":`), bytes.TrimSpace(text), []byte("}\n"))
		q.w.Header().Set("Content-Type", typeGeoJSON)
		q.call.Opened()
		_, err = q.w.Write(b)
		return err
	})
	return h.Catalog.Known(ctx, q.path.collection, err)
}

// sendFeature answers with a page of one feature.
func (p *pageWriter) sendFeature(rec arrow.Record, row int64, links []link) error {
	cells, err := cellsOf(rec, 0)
	if err != nil {
		return valueError(row, err)
	}
	out := page{Title: fmt.Sprintf("Feature %d of %s", row, p.path.collection), Links: links}
	for i, text := range cells {
		out.Facts = append(out.Facts, [2]string{rec.Schema().Field(i).Name, text})
	}
	p.call.Opened()
	return p.sendPage(out)
}
