package ogc

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// items answers with features, page by page.
func (h *handlers) items(ctx context.Context, q *request) error {
	t, err := h.open(ctx, access.Read, q.path.collection)
	if err != nil {
		return err
	}
	defer t.release()
	if err := t.checkPlaces(); err != nil {
		return err
	}
	s, err := h.parseQuery(ctx, q, t)
	if err != nil {
		return err
	}
	if q.unchanged(t) {
		q.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	q.call.Selects(s.ticket(q, t))
	p := &pageWriter{handlers: h, request: q, query: &s, table: t, next: -1, matched: -1}
	if err := p.find(ctx); err != nil {
		return h.Catalog.Known(ctx, q.path.collection, err)
	}
	if uri := uriOf(s.system); uri != "" {
		q.w.Header().Set("Content-Crs", "<"+uri+">")
	}
	p.setHeader()
	if q.html {
		err = p.writeHTML(ctx)
	} else {
		err = p.writeJSON(ctx)
	}
	return h.Catalog.Known(ctx, q.path.collection, err)
}

// unchanged reports whether the client has the answer already. The answer is that of a version of the
// file, unless the caller knows a part of it only.
func (q *request) unchanged(t *featureTable) bool {
	if catalog.IsPart(t.ref) {
		return false
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%t", t.ref.Version, q.with(), q.html))
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	q.w.Header().Set("ETag", tag)
	return httpcall.IsKnown(q.Request, tag)
}

// count returns the number of features that meet the conditions; -1 if only SQL tells.
func (s *search) count(ctx context.Context) (n int64, err error) {
	switch {
	case s.predicate == nil:
		return s.table.Rows, nil
	case s.predicate.SQL != "":
		return -1, nil
	}
	err = s.run(ctx, 0, func(_ int, _ *geoarrow.Columns, rows []int32) (bool, error) {
		n += int64(len(rows))
		return true, nil
	})
	return n, err
}

// pageWriter writes a page of features.
type pageWriter struct {
	*handlers
	*request
	query   *query
	table   *featureTable
	matched int64 // features that meet the conditions; -1: not known

	parts    []selection
	returned int           // features of the page
	next     int64         // row where the next page begins; -1: this page is the last one
	schema   *arrow.Schema // of the selected columns
}

// maxLinkBytes is the length of links in headers. Longer ones are in the body only.
const maxLinkBytes = 4 << 10

// setHeader sets the headers that tell what the body tells, for clients that do not parse it.
func (p *pageWriter) setHeader() {
	h := p.w.Header()
	if p.matched >= 0 {
		h.Set("OGC-NumberMatched", strconv.FormatInt(p.matched, 10))
	}
	h.Set("OGC-NumberReturned", strconv.Itoa(p.returned))
	for _, l := range p.links() {
		if len(l.Href) <= maxLinkBytes {
			h.Add("Link", fmt.Sprintf(`<%s>; rel="%s"; type="%s"`, l.Href, l.Rel, l.Type))
		}
	}
}

// find sets the rows of the page. They are found before the first one is sent, so that a client that
// reads slowly does not occupy a query of its user.
func (p *pageWriter) find(ctx context.Context) error {
	if p.query.nothing {
		p.matched = 0
		return nil
	}
	s := &search{table: p.table, predicate: p.query.predicate, evaluator: p.evaluator}
	if s.predicate != nil && s.predicate.SQL != "" {
		queried, clock, end, err := p.call.BeginQuery(ctx, cmp.Or(p.parameters["filter"], s.predicate.SQL))
		if err != nil {
			return err
		}
		defer end()
		ctx, s.clock = queried, clock
	}
	var err error
	if p.parts, p.next, err = s.page(ctx, p.query.from, p.query.limit); err != nil {
		return err
	}
	for _, part := range p.parts {
		p.returned += len(part.rows)
	}
	switch _, later := p.parameters["token"]; {
	case later:
	case p.next < 0: // the page has all of them
		p.matched = int64(p.returned)
	default:
		p.matched, err = s.count(ctx)
	}
	return err
}

// Records of a page have this size, at maximum and about.
const (
	chunkRows  = 4096
	chunkBytes = 4 << 20
)

// each calls write with records of the features of the page, and the rows that they are.
func (p *pageWriter) each(ctx context.Context, write func(rec arrow.Record, rows []int64) error) error {
	p.schema = p.schemaOf()
	for _, part := range p.parts {
		c, err := p.table.ref.Batch(ctx, part.batch)
		if err != nil {
			return err
		}
		release := p.table.ref.Retain()
		err = p.batch(ctx, c, part, write)
		if release != nil {
			release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// batch calls write with records of some rows of a batch.
func (p *pageWriter) batch(ctx context.Context, c *geoarrow.Columns, part selection,
	write func(rec arrow.Record, rows []int64) error,
) error {
	c = p.project(c)
	n := int(max(1, min(chunkRows, chunkBytes/max(1, c.Bytes()/int64(max(1, c.Rows))))))
	for rows := range slices.Chunk(part.rows, n) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := p.chunk(ctx, c, p.table.Starts[part.batch], rows, write); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf returns the schema of the selected columns. The reference system is that of the answer.
func (p *pageWriter) schemaOf() *arrow.Schema {
	return geoarrow.Schema(p.project(p.table.types.Slice(0, 0)), geoarrow.CRS{}, wkb)
}

var wkb = geoarrow.Encoding{Geometry: geoarrow.AsWKB}

// project returns the selected columns.
func (p *pageWriter) project(c *geoarrow.Columns) *geoarrow.Columns {
	out := &geoarrow.Columns{Rows: c.Rows, Geometry: c.Geometry}
	for _, i := range p.query.columns {
		out.Attributes = append(out.Attributes, c.Attributes[i])
	}
	return out
}

// chunk passes some rows of the selected columns of a batch to write.
func (p *pageWriter) chunk(ctx context.Context, c *geoarrow.Columns, start int64, rows []int32,
	write func(rec arrow.Record, rows []int64) error,
) error {
	if err := p.call.AddRows(int64(len(rows))); err != nil {
		return err
	}
	part := c.Take(rows)
	rec, err := part.Record(p.schema, nil, wkb)
	if err != nil {
		return err
	}
	defer func() { rec.Release() }()
	if part.Geometry != nil {
		if rec, err = p.reproject(ctx, rec, part.Geometry); err != nil {
			return err
		}
	}
	numbers := make([]int64, len(rows))
	for i, r := range rows {
		numbers[i] = start + int64(r)
	}
	return write(rec, numbers)
}

// reproject returns a record with its geometries in the reference system of the answer. It releases rec.
func (p *pageWriter) reproject(ctx context.Context, rec arrow.Record, g *geoarrow.Geometry) (arrow.Record, error) {
	from, to := p.table.storage(), p.query.system
	last := int(rec.NumCols()) - 1
	shapes := rec.Column(last)
	shapes.Retain()
	var err error
	if from != to && (from != geoarrow.CRS84 || !isCRS84(to)) {
		shapes.Release()
		if shapes, err = p.transform(ctx, g, from, to); err != nil {
			return rec, err
		}
	}
	if to.NorthFirst() {
		if shapes, err = swapAxes(shapes); err != nil {
			return rec, err
		}
	}
	defer shapes.Release()
	columns := append([]arrow.Array{}, rec.Columns()...)
	columns[last] = shapes
	out := array.NewRecord(rec.Schema(), columns, rec.NumRows())
	rec.Release()
	return out, nil
}

// pageBuffer is how many bytes of an answer are kept until its first byte is sent. An error in these
// is answered as a problem; a later one ends the connection.
const pageBuffer = 256 << 10

// writeJSON writes a FeatureCollection. The members that the features determine follow them.
func (p *pageWriter) writeJSON(ctx context.Context) error {
	p.w.Header().Set("Content-Type", typeGeoJSON)
	coding, err := httpcall.ChooseCodec(p.Request, true)
	if err != nil {
		return err
	}
	body := p.w.Body(coding)
	defer body.Release()
	body.SetHeader()
	p.call.Opened()
	out := bufio.NewWriterSize(body, pageBuffer)
	if _, err := out.WriteString(`{"type":"FeatureCollection","features":[`); err != nil {
		return err
	}
	features, err := export.NewNumbered(p.schemaOf())
	if err != nil {
		return err
	}
	var b []byte
	separator := "\n"
	err = p.each(ctx, func(rec arrow.Record, rows []int64) error {
		for i, row := range rows {
			b = append(b[:0], separator...)
			separator = ",\n"
			var err error
			if b, err = features.AppendNumbered(b, row, rec, i); err != nil {
				return valueError(row, err)
			}
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tail := struct {
		Matched  *int64    `json:"numberMatched,omitempty"`
		Returned int       `json:"numberReturned"`
		Time     time.Time `json:"timeStamp"`
		Links    []link    `json:"links"`
	}{Returned: p.returned, Time: time.Now().UTC().Truncate(time.Second), Links: p.links()}
	if p.matched >= 0 {
		tail.Matched = &p.matched
	}
	text, err := marshal(tail)
	if err != nil {
		return err
	}
	if _, err := out.WriteString("\n],"); err != nil {
		return err
	}
	if _, err := out.Write(text[1:]); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return body.Close()
}

// links returns the links of a page.
func (p *pageWriter) links() []link {
	links := p.selfLinks(typeGeoJSON)
	if p.next >= 0 {
		media := typeGeoJSON
		if p.html {
			media = typeHTML
		}
		links = append(links, link{p.with("token", makeToken(p.table, p.next)), "next", media, "Next page"})
	}
	return append(links, link{p.collectionURL(p.path.collection), "collection", typeJSON, "The collection"})
}

// maxCellBytes is the length of a value in HTML.
const maxCellBytes = 200

// writeHTML writes a page with a table of features.
func (p *pageWriter) writeHTML(ctx context.Context) error {
	out := page{Title: "Features of " + p.path.collection}
	base := p.collectionURL(p.path.collection) + "/items/"
	err := p.each(ctx, func(rec arrow.Record, rows []int64) error {
		for i, row := range rows {
			cells, err := cellsOf(rec, i)
			if err != nil {
				return valueError(row, err)
			}
			id := strconv.FormatInt(row, 10)
			out.Rows = append(out.Rows, pageRow{base + id + "?f=html", append([]string{id}, cells...)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	out.Header = []string{"feature"}
	for _, f := range p.schema.Fields() {
		out.Header = append(out.Header, f.Name)
	}
	out.Text = fmt.Sprintf("%d features.", p.returned)
	if p.matched >= 0 {
		out.Text = fmt.Sprintf("%d of %d features.", p.returned, p.matched)
	}
	out.Links = p.links()
	p.call.Opened()
	return p.sendPage(out)
}

// cellsOf returns the values of a row for people.
func cellsOf(rec arrow.Record, i int) ([]string, error) {
	cells := make([]string, rec.NumCols())
	for k, column := range rec.Columns() {
		if export.IsNull(column, i) {
			continue
		}
		text, err := export.AppendText(nil, rec.Schema().Field(k), column, i)
		if err != nil {
			return nil, err
		}
		if cells[k] = string(text); len(text) > maxCellBytes {
			cells[k] = string(text[:maxCellBytes]) + "…"
		}
	}
	return cells, nil
}

// valueError is the error of a value that GeoJSON does not have.
func valueError(row int64, err error) error {
	return &httpcall.Error{
		Status: http.StatusUnprocessableEntity, Code: "FAILED_PRECONDITION", Err: err, Detail: fmt.Sprintf(
			"feature %d: %v; /v1/tables has other formats, which have all values", row, err),
	}
}
