package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/readers"
)

// info answers with the description of a table: the answer of the action describe. A file that
// can't be parsed gives the problem with the lines around the position.
func (a *handlers) info(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	name := r.PathValue("name")
	if !utf8.ValidString(name) {
		return httpcall.BadRequest("the name is not UTF-8")
	}
	query, err := parametersOf(r)
	if err != nil {
		return err
	}
	fields := map[string]json.RawMessage{}
	for key, value := range query {
		if key != "options" && key != "version" {
			return unknownField("parameter", key, "options, version")
		}
		fields[key] = parameter(key, value)
	}
	fields["name"] = quote(name)
	body, err := json.Marshal(fields)
	if err != nil {
		return httpcall.BadRequest("options: want a JSON object")
	}
	answer, err := c.Action(ctx, "describe", body)
	var at *readers.ParseError
	if errors.As(err, &at) {
		if entry, err := a.Catalog.Resolve(ctx, access.Read, name); err == nil {
			name = entry
		}
		return &httpcall.LinesError{Err: err, Lines: a.Catalog.Excerpt(ctx, catalog.Request{Name: name}, at)}
	}
	if err != nil {
		return err
	}
	return a.writeAnswer(w, answer)
}
