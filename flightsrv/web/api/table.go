package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// table answers with the rows that a ticket selects.
func (a *handlers) table(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	t, asked, err := ticketOf(r)
	if err != nil {
		return err
	}
	choice, err := rows.Choose(r, asked)
	if err != nil {
		return err
	}
	if choice.Format.WKB {
		if t.Encoding != (geoarrow.Encoding{}) && t.Encoding != (geoarrow.Encoding{Geometry: geoarrow.AsWKB}) {
			return httpcall.BadRequest(fmt.Sprintf("geometry_encoding, coords: %s has its own encoding of geometries",
				choice.Format.Name))
		}
		t.Encoding.Geometry = geoarrow.AsWKB
	}
	t.Compression = choice.Compression
	c.Selects(t)
	if t.Name, err = a.Catalog.Resolve(ctx, access.Read, t.Name); err != nil {
		return err
	}
	c.Selects(t)
	body := w.Body(choice.Coding)
	defer body.Release()
	tag := func(version string, coding httpcall.Codec) string {
		return a.etag(ctx, t, choice, version, coding)
	}
	if same, err := a.unchanged(ctx, w, r, t, tag, body.Coding()); same || err != nil {
		return err
	}
	sel := t.Selection()
	sel.CRS84As, sel.RecordRows = a.CRS84As, choice.Format.RecordRows
	if sel.CRS != "" {
		sel.Transformer = sql.TransformerOf(a.SQL)
	}
	ref, scan, err := a.Catalog.Read(ctx, t.Request(), sel)
	if err != nil {
		return err
	}
	defer ref.Release()
	c.Opened()
	if r.Method != http.MethodPost {
		w.Header().Set("ETag", tag(ref.Version, body.Coding()))
		httpcall.SetCacheControl(w, a.Calls)
	}
	if r.Method == http.MethodHead {
		choice.SetHeader(w, t.Name)
		body.SetHeader()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	about := rows.Table{Name: t.Name, GeometryTypes: ref.Table.GeometryTypes}
	if err := choice.Send(ctx, body, w, c, scan, about); err != nil {
		return a.Catalog.Known(ctx, t.Name, err)
	}
	return nil
}

// unchanged answers with 304 if the client has the present answer already (RFC 9110 section 13.1.2).
// Nothing is parsed for that.
func (a *handlers) unchanged(ctx context.Context, w *httpcall.Writer, r *http.Request, t ticket.Ticket,
	tag func(version string, coding httpcall.Codec) string, coding httpcall.Codec,
) (bool, error) {
	if r.Header.Get("If-None-Match") == "" || r.Method == http.MethodPost {
		return false, nil
	}
	version, err := a.Catalog.Version(ctx, t.Request())
	if err != nil {
		return false, err
	}
	// An answer may have been sent without its coding, which is short of encoders at times.
	for _, c := range []httpcall.Codec{coding, httpcall.Identity} {
		if etag := tag(version, c); httpcall.IsKnown(r, etag) {
			w.Header().Set("ETag", etag)
			w.Header().Add("Vary", "Accept")
			w.Header().Add("Vary", "Accept-Encoding")
			httpcall.SetCacheControl(w, a.Calls)
			w.WriteHeader(http.StatusNotModified)
			return true, nil
		}
	}
	return false, nil
}

// bytesVersion is raised when the same rows give other bytes in some format.
const bytesVersion = 1

// etag returns the strong entity tag of an answer: what its bytes are a function of.
func (a *handlers) etag(ctx context.Context, t ticket.Ticket, c rows.Choice, version string,
	coding httpcall.Codec,
) string {
	t.Version = ""
	scope := ""
	if s := a.Catalog.Scope(ctx); s != access.All {
		scope = s.Key()
	}
	h := sha256.New()
	for _, part := range []string{
		strconv.Itoa(bytesVersion), build(), version, string(t.Encode()), c.Format.Name, string(coding), scope,
		a.CRS84As.String(),
	} {
		h.Write(fmt.Appendf(nil, "%d %s\n", len(part), part))
	}
	return `"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"`
}

// build identifies the program.
var build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			revision += " " + s.Value
		}
	}
	return revision
})

// ticketOf reads the ticket of a request, and the format of the answer: from the body of a POST, and
// from the parameters of the URL.
func ticketOf(r *http.Request) (t ticket.Ticket, asked rows.Request, err error) {
	name := r.PathValue("name")
	if !utf8.ValidString(name) {
		return t, asked, httpcall.BadRequest("the name is not UTF-8")
	}
	fields := map[string]json.RawMessage{}
	if r.Method == http.MethodPost {
		if fields, err = readObject(r); err != nil {
			return t, asked, err
		}
	}
	query, err := parametersOf(r)
	if err != nil {
		return t, asked, err
	}
	for key, value := range query {
		fields[key] = parameter(key, value)
	}
	if asked, err = askedOf(fields); err != nil {
		return t, asked, err
	}
	if asked.Compression != "" {
		fields["compression"] = quote(asked.Compression)
	}
	fields["name"] = quote(name)
	b, err := json.Marshal(fields)
	if err != nil {
		return t, asked, httpcall.BadRequest(err.Error())
	}
	if t, err = ticket.Parse(b); err != nil {
		return t, asked, httpcall.BadRequest(err.Error())
	}
	return t, asked, nil
}

// parametersOf returns the parameters of a URL, each of which may be given once.
func parametersOf(r *http.Request) (map[string]string, error) {
	query, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string, len(query))
	for key, values := range query {
		if len(values) > 1 {
			return nil, httpcall.BadRequest(fmt.Sprintf("the parameter %.100q is given twice", key))
		}
		if !utf8.ValidString(key) || !utf8.ValidString(values[0]) {
			return nil, httpcall.BadRequest(fmt.Sprintf("the parameter %.100q is not UTF-8", key))
		}
		all[key] = values[0]
	}
	return all, nil
}

// askedOf takes the format of the answer from the fields of a request.
func askedOf(fields map[string]json.RawMessage) (asked rows.Request, err error) {
	for key, to := range map[string]*string{"format": &asked.Format, "compression": &asked.Compression} {
		if v, ok := fields[key]; ok {
			if json.Unmarshal(v, to) != nil || *to == "" {
				return asked, httpcall.BadRequest(key + ": want the name of one")
			}
			delete(fields, key)
		}
	}
	if v, ok := fields["download"]; ok {
		switch string(v) {
		case "true", "1", `"1"`, `"true"`, `""`:
			asked.Download = true
		case "false", "0", `"0"`, `"false"`:
		default:
			return asked, httpcall.BadRequest("download: want true or false")
		}
		delete(fields, "download")
	}
	return asked, nil
}

// quote returns a text as JSON.
func quote(text string) json.RawMessage {
	b, _ := json.Marshal(text) // strings always have JSON
	return b
}

// parameter returns the JSON of a parameter. Lists are separated by commas, or they are JSON.
func parameter(key, value string) json.RawMessage {
	switch {
	case slices.Contains([]string{"bbox", "rows"}, key) && !strings.HasPrefix(value, "["):
		return json.RawMessage("[" + value + "]")
	case key == "columns" && !strings.HasPrefix(value, "["):
		b, _ := json.Marshal(strings.Split(value, ",")) // strings always have JSON
		return b
	case slices.Contains([]string{"bbox", "rows", "columns", "limit", "partitions", "options"}, key):
		return json.RawMessage(value)
	}
	return quote(value)
}
