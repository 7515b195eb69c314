package ogc

// object is a JSON object.
type object = map[string]any

// api answers with the definition of the API in OpenAPI 3.0. Collections are a parameter of the
// paths: there may be a million.
func (h *handlers) api(q *request) error {
	if err := q.only(); err != nil {
		return err
	}
	out := page{Title: "API", Text: "Documentation of the paths below " + q.base + ".", Links: q.selfLinks(typeOpenAPI)}
	d := h.openAPI(q.base)
	out.Header = []string{"path", "answer"}
	for _, o := range operations {
		out.Rows = append(out.Rows, pageRow{"", []string{o.path, o.summary}})
	}
	return q.send(typeOpenAPI, d, out)
}

// operation is a GET request of the API.
type operation struct {
	path, id, summary string
	media             string   // of JSON
	parameters        []string // names in components
}

var operations = []operation{
	{"/", "getLandingPage", "The landing page", typeJSON, nil},
	{"/conformance", "getConformance", "The conformance classes", typeJSON, nil},
	{"/api", "getAPI", "This document", typeOpenAPI, nil},
	{"/collections", "getCollections", "The collections", typeJSON, []string{"collectionsLimit", "token"}},
	{"/collections/{collectionId}", "describeCollection", "A collection", typeJSON, []string{"collectionId"}},
	{
		"/collections/{collectionId}/queryables", "getQueryables", "The properties that filters can name", typeSchema,
		[]string{"collectionId"},
	},
	{
		"/collections/{collectionId}/items", "getFeatures", "Features of a collection", typeGeoJSON, []string{
			"collectionId", "limit", "bbox", "bbox-crs", "datetime", "crs", "properties", "filter", "filter-lang",
			"filter-crs", "token",
		},
	},
	{
		"/collections/{collectionId}/items/{featureId}", "getFeature", "A feature", typeGeoJSON,
		[]string{"collectionId", "featureId", "crs", "properties"},
	},
}

// openAPI returns the definition.
func (h *handlers) openAPI(base string) object {
	paths := object{}
	for _, o := range operations {
		parameters := []object{ref("parameters", "f")}
		for _, name := range o.parameters {
			parameters = append(parameters, ref("parameters", name))
		}
		responses := object{
			"200": object{"description": o.summary, "content": object{
				o.media:  object{"schema": object{"type": "object"}},
				typeHTML: object{"schema": object{"type": "string"}},
			}},
			"400": ref("responses", "problem"), "401": ref("responses", "problem"), "500": ref("responses", "problem"),
		}
		if len(o.parameters) > 0 {
			responses["404"] = ref("responses", "problem")
		}
		if o.id == "getFeatures" {
			responses["304"] = object{"description": "The client has the answer"}
			responses["410"] = ref("responses", "problem")
			responses["501"] = ref("responses", "problem")
		}
		paths[o.path] = object{"get": object{
			"operationId": o.id, "summary": o.summary, "parameters": parameters, "responses": responses,
		}}
	}
	return object{
		"openapi": "3.0.3",
		"info":    object{"title": title, "description": description, "version": "1.0.0"},
		"servers": []object{{"url": base}},
		"paths":   paths,
		"components": object{
			"parameters": apiParameters(),
			"responses": object{"problem": object{
				"description": "An error (RFC 9457)",
				"content":     object{"application/problem+json": object{"schema": ref("schemas", "problem")}},
			}},
			"schemas": object{"problem": object{
				"type": "object", "required": []string{"title", "status", "detail"}, "properties": object{
					"title": object{"type": "string"}, "status": object{"type": "integer"},
					"code": object{"type": "string"}, "detail": object{"type": "string"},
				},
			}},
		},
	}
}

func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

// apiParameters returns the parameters of all paths.
func apiParameters() object {
	in := func(where, name, description string, schema object) object {
		p := object{
			"name": name, "in": where, "description": description, "schema": schema, "required": where == "path",
		}
		if where == "query" {
			p["style"], p["explode"] = "form", false
		}
		return p
	}
	text := object{"type": "string"}
	number := func(standard, maximum int) object {
		return object{"type": "integer", "minimum": 1, "maximum": maximum, "default": standard}
	}
	uri := object{"type": "string", "format": "uri", "default": crs84URI}
	return object{
		"collectionId": in("path", "collectionId", "Name of a file; slashes are escaped as %2F", text),
		"featureId":    in("path", "featureId", "Number of the row, from 0", object{"type": "integer", "minimum": 0}),
		"f": in("query", "f", "Form of the answer", object{
			"type": "string", "enum": []string{"json", "html"},
		}),
		"limit": in("query", "limit", "Maximum number of features", number(defaultLimit, maxLimit)),
		"collectionsLimit": in("query", "limit", "Maximum number of collections",
			number(defaultCollections, maxCollections)),
		"token": in("query", "token", "Start of a page, as links to the next page have it", text),
		"bbox": in("query", "bbox", "Features whose geometry meets the box", object{
			"type": "array", "minItems": 4, "maxItems": 6, "items": object{"type": "number"},
		}),
		"bbox-crs":   in("query", "bbox-crs", "Reference system of bbox", uri),
		"crs":        in("query", "crs", "Reference system of the answer", uri),
		"filter-crs": in("query", "filter-crs", "Reference system of geometries in filter", uri),
		"datetime": in("query", "datetime", "An instant or an interval (RFC 3339): features at this time, if the "+
			"collection has one column of dates or timestamps", text),
		"properties": in("query", "properties", "Names of the properties of the answer", object{
			"type": "array", "items": text,
		}),
		"filter": in("query", "filter", "A condition on features in CQL2", text),
		"filter-lang": in("query", "filter-lang", "Form of filter; cql-text is CQL2 text as GDAL writes it", object{
			"type": "string", "enum": []string{"cql2-text", "cql2-json", "cql-text"}, "default": "cql2-text",
		}),
	}
}
