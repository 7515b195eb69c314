package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// readBody returns the body of a request, which has JSON.
func readBody(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, ticket.MaxBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &httpcall.Error{
			Status: http.StatusRequestEntityTooLarge, Code: "INVALID_ARGUMENT",
			Detail: fmt.Sprintf("the body has more than %d bytes", ticket.MaxBytes),
		}
	case err != nil:
		return nil, httpcall.BadRequest("the body of the request can't be read")
	}
	return b, nil
}

// readObject returns the fields of the body of a request. An empty body has none.
func readObject(r *http.Request) (map[string]json.RawMessage, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if len(body) == 0 {
		return fields, nil
	}
	if err := ticket.Fields(body, func(key string, value json.RawMessage) { fields[key] = value }); err != nil {
		return nil, httpcall.BadRequest("body: " + err.Error())
	}
	return fields, nil
}

// parseQuery returns the parameters of the URL of a request.
func parseQuery(r *http.Request) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil,
			httpcall.BadRequest("the parameters of the URL can't be read: each % needs two hexadecimal digits, " +
				"and ; must be written %3B")
	}
	return query, nil
}

func unknownField(what, key, known string) error {
	return httpcall.BadRequest(fmt.Sprintf("%s %.100q: unknown; known are %s", what, key, known))
}

// writeAnswer answers a request with JSON of the server, without paths of its file system.
func (a *handlers) writeAnswer(w http.ResponseWriter, v any) error {
	b, err := metadata.Marshal(v)
	if err != nil {
		return err
	}
	return writeJSONText(w, []byte(a.Catalog.WithoutPaths(string(b))))
}

// writeJSON answers a request with JSON.
func writeJSON(w http.ResponseWriter, v any) error {
	b, err := metadata.Marshal(v)
	if err != nil {
		return err
	}
	return writeJSONText(w, b)
}

func writeJSONText(w http.ResponseWriter, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, no-cache")
	_, err := w.Write(append(b, '\n'))
	return err
}
