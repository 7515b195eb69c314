package ogc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Numbers of features of a page. A larger limit is reduced to the maximum (17-069r4, 7.15.2).
const (
	defaultLimit = 1000
	maxLimit     = 10_000
	maxHTMLLimit = 500
)

// query is what a request for features selects.
type query struct {
	limit     int
	from      int64           // row of the table
	condition *cql2.Node      // nil: none
	predicate *cql2.Predicate // of condition
	nothing   bool            // no feature meets the conditions
	columns   []int           // attributes
	system    geoarrow.CRS    // of the answer
}

// itemsParameters are the parameters of /items that are not properties.
var itemsParameters = []string{
	"limit", "bbox", "bbox-crs", "datetime", "crs", "filter", "filter-lang", "filter-crs", "properties", "token",
}

// parseQuery parses the parameters of a request for features.
func (h *handlers) parseQuery(ctx context.Context, q *request, t *featureTable) (s query, err error) {
	known := slices.Clone(itemsParameters)
	for i := range t.types.Attributes {
		known = append(known, t.types.Attributes[i].Name)
	}
	if err := q.only(known...); err != nil {
		return s, err
	}
	if s.limit, err = q.limit(); err != nil {
		return s, err
	}
	if text, ok := q.parameters["token"]; ok {
		if s.from, err = parseToken(text, t); err != nil {
			return s, err
		}
	}
	if s.columns, err = q.properties(t); err != nil {
		return s, err
	}
	if s.system, err = h.system(q, t, "crs"); err != nil {
		return s, err
	}
	return s, h.conditions(ctx, q, t, &s)
}

// ticket describes a query for logs.
func (s *query) ticket(q *request, t *featureTable) ticket.Ticket {
	out := ticket.Ticket{Name: q.path.collection}
	if _, ok := q.parameters["properties"]; ok {
		for _, i := range s.columns {
			out.Columns = append(out.Columns, t.types.Attributes[i].Name)
		}
		out.Columns = append(out.Columns, geoarrow.GeometryName)
	}
	if _, ok := q.parameters["bbox"]; ok && s.predicate != nil && len(s.predicate.Boxes) > 0 {
		out.BBox = metadata.Finite(&s.predicate.Boxes[0][0])
	}
	return out
}

// limit returns the maximum number of features.
func (q *request) limit() (int, error) {
	maximum := maxLimit
	if q.html {
		maximum = maxHTMLLimit
	}
	text, ok := q.parameters["limit"]
	if !ok {
		return min(defaultLimit, maximum), nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = math.MaxInt32, nil
	}
	if err != nil || n < 1 {
		return 0, httpcall.BadRequest(fmt.Sprintf("limit=%.40s: want a number from 1 to %d", text, maxLimit))
	}
	return int(min(n, uint64(maximum))), nil
}

// properties returns the attributes that the parameter selects.
func (q *request) properties(t *featureTable) ([]int, error) {
	var columns []int
	text, ok := q.parameters["properties"]
	if !ok || text == "" {
		for i := range t.types.Attributes {
			if !ok {
				columns = append(columns, i)
			}
		}
		return columns, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		i := t.attribute(name)
		switch {
		case i >= 0 && !slices.Contains(columns, i):
			columns = append(columns, i)
		case i < 0 && name != geoarrow.GeometryName:
			return nil, httpcall.BadRequest(fmt.Sprintf("properties: there is no property %.100q", name))
		}
	}
	return columns, nil
}

// conditions sets the predicate of bbox, datetime, filter and the parameters of properties.
func (h *handlers) conditions(ctx context.Context, q *request, t *featureTable, s *query) error {
	box, err := h.bbox(q, t)
	if err != nil {
		return err
	}
	if box != nil && t.types.Geometry == nil {
		s.nothing = true
		return nil
	}
	all := []*cql2.Node{box}
	when, err := q.datetime(t)
	if err != nil {
		return err
	}
	all = append(all, when...)
	for i := range t.types.Attributes {
		c := &t.types.Attributes[i]
		value, ok := q.parameters[c.Name]
		if !ok || c.Name == "f" || slices.Contains(itemsParameters, c.Name) {
			continue
		}
		n, err := equals(c, value)
		if err != nil {
			return err
		}
		all = append(all, n)
	}
	filter, err := q.filter()
	if err != nil {
		return err
	}
	if filter != nil && filter.Op == "and" {
		all = append(all, filter.Args...)
	} else {
		all = append(all, filter)
	}
	s.condition = cql2.And(all...)
	filterCRS := geoarrow.CRS84
	if _, ok := q.parameters["filter-crs"]; ok {
		if filterCRS, err = h.system(q, t, "filter-crs"); err != nil {
			return err
		}
	}
	return h.compile(ctx, t, filterCRS, s)
}

// compile sets the predicate of the condition.
func (h *handlers) compile(ctx context.Context, t *featureTable, filterCRS geoarrow.CRS, s *query) (err error) {
	if s.condition == nil {
		return nil
	}
	s.predicate, err = cql2.Compile(s.condition, cql2.Schema{
		TypeOf: t.typeOf, Spatial: h.spatial(), Place: h.place(ctx, t, filterCRS),
	})
	var wrong *cql2.Error
	switch {
	case errors.As(err, &wrong) && wrong.Unsupported:
		return &httpcall.Error{Status: http.StatusNotImplemented, Code: "UNIMPLEMENTED", Detail: wrong.Error()}
	case errors.As(err, &wrong):
		return httpcall.BadRequest(wrong.Error())
	case err != nil:
		return err
	case s.predicate.SQL != "" && h.evaluator == nil:
		return &httpcall.Error{
			Status: http.StatusNotImplemented, Code: "UNIMPLEMENTED", Detail: "this server evaluates conditions on " +
				"properties only with SQL: it was started with --no-sql, or built without cgo",
		}
	}
	return nil
}

// filter parses the filter.
func (q *request) filter() (n *cql2.Node, err error) {
	text, ok := q.parameters["filter"]
	lang := q.parameters["filter-lang"]
	switch {
	case !slices.Contains([]string{"", "cql2-text", "cql2-json", "cql-text"}, lang): // the last one is GDAL's
		return nil, httpcall.BadRequest(fmt.Sprintf("filter-lang=%.40s: want cql2-text or cql2-json", lang))
	case !ok:
		return nil, nil //nolint:nilnil // no filter
	case lang == "cql2-json":
		n, err = cql2.ParseJSON(text)
	default:
		n, err = cql2.ParseText(text)
	}
	if err != nil {
		return nil, httpcall.BadRequest(err.Error())
	}
	return n, nil
}

// bbox parses the box.
func (h *handlers) bbox(q *request, t *featureTable) (*cql2.Node, error) {
	text, ok := q.parameters["bbox"]
	if !ok {
		if _, ok := q.parameters["bbox-crs"]; ok {
			_, err := h.system(q, t, "bbox-crs")
			return nil, err
		}
		return nil, nil //nolint:nilnil // no box
	}
	bad := func(why string) error { return httpcall.BadRequest(fmt.Sprintf("bbox=%.100s: %s", text, why)) }
	parts := strings.Split(text, ",")
	v := make([]float64, len(parts))
	for i, part := range parts {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, bad("want four or six numbers")
		}
		v[i] = f
	}
	switch len(v) {
	case 4:
	case 6: // heights are ignored
		v = []float64{v[0], v[1], v[3], v[4]}
	default:
		return nil, bad("want four or six numbers")
	}
	system, err := h.system(q, t, "bbox-crs")
	if err != nil {
		return nil, err
	}
	ymin, ymax := v[1], v[3]
	if system.NorthFirst() {
		ymin, ymax = v[0], v[2]
	}
	if ymin > ymax {
		return nil, bad("the lower bound of y is above the upper one")
	}
	return &cql2.Node{Op: "s_intersects", Args: []*cql2.Node{
		{Op: cql2.Property, Text: geoarrow.GeometryName},
		{Op: cql2.Geometry, Shape: &cql2.Shape{Box: &[4]float64{v[0], v[1], v[2], v[3]}, CRS: uriOf(system)}},
	}}, nil
}

// datetime parses an instant or an interval. A collection without a column of time, or with several,
// ignores it.
func (q *request) datetime(t *featureTable) ([]*cql2.Node, error) {
	text, ok := q.parameters["datetime"]
	if !ok {
		return nil, nil
	}
	column := &cql2.Node{Op: cql2.Property, Text: t.temporal()}
	start, stop, interval := strings.Cut(text, "/")
	if !interval {
		start, stop = text, text
	}
	var all []*cql2.Node
	var bounds []time.Time
	for i, bound := range []string{start, stop} {
		if interval && (bound == "" || bound == "..") {
			continue
		}
		literal := &cql2.Node{Op: cql2.Timestamp, Text: bound}
		at, err := time.Parse(time.RFC3339Nano, bound)
		if err != nil {
			literal.Op = cql2.Date
			if at, err = time.Parse(time.DateOnly, bound); err != nil {
				return nil, httpcall.BadRequest(fmt.Sprintf("datetime=%.100s: want an instant, as "+
					"2026-05-01T06:30:00Z, or an interval, as 2026-05-01T00:00:00Z/..", text))
			}
			if i == 1 { // a date lasts until its end
				literal = &cql2.Node{Op: cql2.Timestamp, Text: bound + "T23:59:59.999999999Z"}
				at = at.Add(24*time.Hour - 1)
			}
		}
		bounds = append(bounds, at)
		all = append(all, &cql2.Node{Op: []string{">=", "<="}[i], Args: []*cql2.Node{column, literal}})
	}
	if len(bounds) == 2 && bounds[0].After(bounds[1]) {
		return nil, httpcall.BadRequest(fmt.Sprintf("datetime=%.100s: the interval ends before it starts", text))
	}
	if column.Text == "" {
		return nil, nil
	}
	return all, nil
}

// equals is the condition of a parameter that is called like a property.
func equals(c *geoarrow.Column, value string) (*cql2.Node, error) {
	literal := &cql2.Node{Text: value}
	switch typeOf(c) {
	case cql2.NumberType:
		literal.Op = cql2.Number
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return nil, httpcall.BadRequest(fmt.Sprintf("%.100s=%.100s: want a number", c.Name, value))
		}
	case cql2.BooleanType:
		literal.Op = cql2.Boolean
		if value != "true" && value != "false" {
			return nil, httpcall.BadRequest(fmt.Sprintf("%.100s=%.100s: want true or false", c.Name, value))
		}
	case cql2.DateType:
		literal.Op = cql2.Date
	case cql2.TimestampType, cql2.InstantType:
		literal.Op = cql2.Timestamp
	case cql2.StringType, cql2.NullType:
		literal.Op = cql2.String
	default:
		return nil, httpcall.BadRequest(fmt.Sprintf("%.100s: values of this property can't be compared", c.Name))
	}
	return &cql2.Node{Op: "=", Args: []*cql2.Node{{Op: cql2.Property, Text: c.Name}, literal}}, nil
}

// A token says where a page begins: a digest of the table's version, and a row.

func versionDigest(t *featureTable) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", t.ref.Entry.Name, t.ref.Version, t.Rows))
	return sum[:9]
}

func makeToken(t *featureTable, row int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(versionDigest(t), uint64(row)))
}

func parseToken(text string, t *featureTable) (int64, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 10 {
		return 0, httpcall.BadRequest("the token is not one of a link to a next page")
	}
	row, n := binary.Uvarint(b[9:])
	switch {
	case n != len(b)-9 || row > math.MaxInt64:
		return 0, httpcall.BadRequest("the token is not one of a link to a next page")
	case !slices.Equal(b[:9], versionDigest(t)):
		return 0, &httpcall.Error{
			Status: http.StatusGone, Code: "FAILED_PRECONDITION", Detail: "the collection has changed since the page " +
				"before this one: begin again with the first page, without a token",
		}
	}
	return int64(row), nil
}
