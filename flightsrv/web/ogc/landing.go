package ogc

// classes are the conformance classes of the server without SQL.
var classes = []string{
	"http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
	"http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables",
	"http://www.opengis.net/spec/ogcapi-features-6/1.0/conf/properties",
}

// filterClasses are the classes that need SQL.
var filterClasses = []string{
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables-query-parameters",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter",
	"http://www.opengis.net/spec/cql2/1.0/conf/cql2-text",
	"http://www.opengis.net/spec/cql2/1.0/conf/cql2-json",
	"http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2",
	"http://www.opengis.net/spec/cql2/1.0/conf/advanced-comparison-operators",
	"http://www.opengis.net/spec/cql2/1.0/conf/case-insensitive-comparison",
	"http://www.opengis.net/spec/cql2/1.0/conf/accent-insensitive-comparison",
	"http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-functions",
	"http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-operators", // its name in a draft, for QGIS
	"http://www.opengis.net/spec/cql2/1.0/conf/property-property",
	"http://www.opengis.net/spec/cql2/1.0/conf/arithmetic",
}

// spatialClasses are the classes that need DuckDB's spatial extension.
var spatialClasses = []string{
	"http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-functions-plus",
	"http://www.opengis.net/spec/cql2/1.0/conf/spatial-functions",
}

// landingDocument is the landing page.
type landingDocument struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Links       []link `json:"links"`
}

const (
	title       = "vibeflight"
	description = "Geospatial files as OGC API - Features. A collection is a file, a feature is a row of it."
)

func (h *handlers) landing(q *request) error {
	if err := q.only(); err != nil {
		return err
	}
	d := landingDocument{title, description, append(q.selfLinks(typeJSON),
		link{q.base + "/api", "service-desc", typeOpenAPI, "Definition of the API"},
		link{q.base + "/api?f=html", "service-doc", typeHTML, "Documentation of the API"},
		link{q.base + "/conformance", "conformance", typeJSON, "Conformance classes"},
		link{q.base + "/collections", "data", typeJSON, "Collections"},
	)}
	return q.send(typeJSON, d, page{Title: title, Text: description, Links: d.Links})
}

// conformanceDocument is the list of conformance classes.
type conformanceDocument struct {
	ConformsTo []string `json:"conformsTo"`
	Links      []link   `json:"links"`
}

// conformsTo returns the conformance classes.
func (h *handlers) conformsTo() []string {
	all := append([]string{}, classes...)
	if h.evaluator != nil {
		all = append(all, filterClasses...)
	}
	if h.spatial() {
		all = append(all, spatialClasses...)
	}
	return all
}

func (h *handlers) conformance(q *request) error {
	if err := q.only(); err != nil {
		return err
	}
	d := conformanceDocument{h.conformsTo(), q.selfLinks(typeJSON)}
	return q.send(typeJSON, d, page{Title: "Conformance", Lines: d.ConformsTo, Links: d.Links})
}
