package api

import (
	"net/http"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
)

// schema is a JSON Schema (draft 2020-12), as OpenAPI 3.1 has it.
type schema map[string]any

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// openapi answers with the description of all paths.
func (a *handlers) openapi(w http.ResponseWriter, _ *http.Request) {
	_ = writeJSON(w, a.document()) // the client may have left
}

// document returns the description of all paths (OpenAPI 3.1).
func (a *handlers) document() map[string]any {
	paths := map[string]map[string]any{}
	for _, r := range a.routes() {
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = r.describeOperation(a.Calls.HasLogin())
	}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "vibeflight", "version": "1",
			"description": "Geospatial tables as Arrow streams and in other formats, and SQL.",
			"license":     map[string]any{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
		},
		"servers": []any{map[string]any{"url": "/"}},
		"paths":   paths,
		"components": map[string]any{
			"schemas": schemas(),
			"responses": map[string]any{"Problem": map[string]any{
				"description": "What is wrong (RFC 9457). A malformed file has a position.",
				"content":     map[string]any{"application/problem+json": map[string]any{"schema": ref("Problem")}},
			}},
			"securitySchemes": map[string]any{
				"token":    map[string]any{"type": "http", "scheme": "bearer"},
				"password": map[string]any{"type": "http", "scheme": "basic"},
				"session":  map[string]any{"type": "apiKey", "in": "cookie", "name": httpcall.SessionCookie},
			},
		},
	}
	return doc
}

// describeOperation returns the operation of a route.
func (r *route) describeOperation(login bool) map[string]any {
	op := map[string]any{"operationId": r.operation, "summary": r.summary}
	var parameters []any
	for _, p := range r.parameters {
		one := map[string]any{"name": p.name, "in": "query", "description": p.what, "schema": p.schema}
		if strings.Contains(r.path, "{"+p.name+"}") {
			one["in"], one["required"] = "path", true
		} else if p.schema["type"] == "array" {
			one["style"], one["explode"] = "form", false
		}
		parameters = append(parameters, one)
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if r.body != nil {
		op["requestBody"] = map[string]any{"content": map[string]any{
			"application/json": map[string]any{"schema": r.body},
		}}
	}
	good := map[string]any{"description": r.answer.what}
	if content := r.answer.content(); len(content) > 0 {
		good["content"] = content
	}
	answers := map[string]any{
		r.answer.status: good, "default": map[string]any{"$ref": "#/components/responses/Problem"},
	}
	if r.answer.formats && r.method == http.MethodGet {
		good["headers"] = map[string]any{"ETag": map[string]any{
			"description": "Of the version of the table, the ticket and the format.",
			"schema":      schema{"type": "string"},
		}}
		answers["304"] = map[string]any{"description": "The answer is the one that If-None-Match names."}
	}
	op["responses"] = answers
	if r.private && login {
		op["security"] = []any{
			map[string]any{"token": []string{}},
			map[string]any{"password": []string{}},
			map[string]any{"session": []string{}},
		}
	}
	return op
}

// content returns the media types of an answer.
func (a answer) content() map[string]any {
	content := map[string]any{}
	if a.formats {
		for _, f := range rows.Formats {
			content[f.MediaType] = map[string]any{"schema": schema{}}
		}
	}
	if a.json != nil {
		content["application/json"] = map[string]any{"schema": a.json}
	}
	return content
}

// schemas are the schemas that paths refer to.
func schemas() map[string]schema {
	text, integer, number := schema{"type": "string"}, schema{"type": "integer"}, schema{"type": "number"}
	object := func(properties map[string]any, required ...string) schema {
		s := schema{"type": "object", "properties": properties}
		if len(required) > 0 {
			s["required"] = required
		}
		return s
	}
	list := func(of schema) schema { return schema{"type": "array", "items": of} }
	orNull := func(of string) schema { return schema{"type": []string{of, "null"}} }
	box := schema{"type": []string{"array", "null"}, "items": number, "minItems": 4, "maxItems": 4}
	ticket := map[string]any{}
	for _, p := range append(ticketParameters(), formatParameters...) {
		if p.name != nameParameter.name {
			ticket[p.name] = p.schema
		}
	}
	ticket["options"], ticket["partitions"] = schema{"type": "object"}, schema{"type": "object"}
	query := map[string]any{
		"query": schema{"type": "string", "description": "One statement that reads."},
		"schema": schema{
			"type": "string", "description": "Folder in which names are looked up first. Without it, the root.",
		},
		"parameters": schema{
			"description": "Values for ? as an array, or for $name as an object.",
			"type":        []string{"array", "object"},
		},
		"limit": schema{"type": "integer", "minimum": 0, "description": "At most this number of rows."},
	}
	for _, p := range formatParameters {
		query[p.name] = p.schema
	}
	ticketSchema, querySchema := object(ticket), object(query, "query")
	ticketSchema["additionalProperties"], querySchema["additionalProperties"] = false, false
	return map[string]schema{
		"Ticket": ticketSchema, "Query": querySchema,
		"Session": object(map[string]any{"user": text}, "user"),
		"Tables":  object(map[string]any{"tables": list(ref("Table")), "next": text}, "tables"),
		"Table": object(map[string]any{
			"name": text, "format": text, "file_bytes": integer, "modified": schema{
				"type":   "string",
				"format": "date-time",
			},
			"rows": orNull("integer"), "bbox": box, "crs": orNull("string"), "href": text,
		}, "name", "format", "file_bytes", "modified", "rows", "bbox", "crs", "href"),
		"Description": object(map[string]any{
			"name": text, "version": text, "format": text, "rows": integer, "bytes": integer, "file_bytes": integer,
			"bbox": box, "crs": orNull("string"), "geometry_types": list(text), "columns": list(ref("Column")),
		}, "name", "rows", "columns"),
		"Column": object(map[string]any{
			"name": text, "type": text, "nullable": schema{"type": "boolean"}, "metadata": schema{"type": "object"},
		}, "name", "type", "nullable"),
		"Problem": object(map[string]any{
			"title": text, "status": integer, "code": text, "detail": text,
			"byte":    schema{"type": "integer", "description": "Position in the malformed file, from 0."},
			"line":    schema{"type": "integer", "description": "Line in the malformed file, from 1."},
			"feature": schema{"type": "integer", "description": "Row in the malformed file, from 0."},
			"field":   text,
			"lines": list(object(map[string]any{
				"number": integer, "byte": integer, "text": text,
			}, "byte", "text")),
		}, "title", "status", "code", "detail"),
	}
}
