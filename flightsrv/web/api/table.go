package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// table answers with the rows that a ticket selects.
func (a *handlers) table(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	t, err := ticketOf(r)
	if err != nil {
		return err
	}
	format := rows.Formats[0]
	if format.WKB {
		t.Encoding.Geometry = geoarrow.AsWKB
	}
	c.Selects(t)
	sel := t.Selection()
	sel.CRS84As = a.CRS84As
	ref, scan, err := a.Catalog.Read(ctx, t.Request(), sel)
	if err != nil {
		return err
	}
	defer ref.Release()
	c.Opened()
	if err := rows.Send(ctx, w, c, format, scan, t.Compression); err != nil {
		return a.Catalog.Known(ctx, t.Name, err)
	}
	return nil
}

// ticketOf reads the ticket of a request: the body of a POST, or the parameters of the URL.
func ticketOf(r *http.Request) (ticket.Ticket, error) {
	fields := map[string]json.RawMessage{}
	if r.Method == http.MethodPost {
		body, err := readBody(r)
		if err != nil {
			return ticket.Ticket{}, err
		}
		if err := json.Unmarshal(body, &fields); err != nil {
			return ticket.Ticket{}, httpcall.BadRequest("the body is not a JSON object: " + err.Error())
		}
	}
	for key, values := range r.URL.Query() {
		if key == "format" {
			continue
		}
		if len(values) > 1 {
			return ticket.Ticket{}, httpcall.BadRequest(fmt.Sprintf("the parameter %.100q is given twice", key))
		}
		fields[key] = parameter(key, values[0])
	}
	name, err := json.Marshal(r.PathValue("name"))
	if err != nil {
		return ticket.Ticket{}, err
	}
	fields["name"] = name
	b, err := json.Marshal(fields)
	if err != nil {
		return ticket.Ticket{}, httpcall.BadRequest(err.Error())
	}
	t, err := ticket.Parse(b)
	if err != nil {
		return ticket.Ticket{}, httpcall.BadRequest(err.Error())
	}
	return t, nil
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
	b, _ := json.Marshal(value)
	return b
}
