//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// The metadata of a geometry column, https://geoarrow.org/extension-types.html.
const (
	extensionName     = "ARROW:extension:name"
	extensionMetadata = "ARROW:extension:metadata"
	wkbExtension      = "geoarrow.wkb"
)

// The two names of longitude and latitude on WGS 84. x is the longitude in every table, so they are
// one reference system, and DuckDB gets one name for both: the one that users write if the spatial
// extension is loaded, and otherwise the one that DuckDB knows without it.
const (
	wgs84EPSG = "EPSG:4326"
	wgs84OGC  = "OGC:CRS84"
)

func isWGS84(crs string) bool {
	return strings.EqualFold(crs, wgs84EPSG) || strings.EqualFold(crs, wgs84OGC)
}

// wgs84 is the name that DuckDB gets for both.
func (c Config) wgs84() string {
	if c.Spatial != "" {
		return wgs84EPSG
	}
	return wgs84OGC
}

// crsNames maps reference systems to the extension metadata that the tables of a statement have for
// them. DuckDB keeps a column's reference system as text in its type, which is the key. It drops or
// rewrites the rest of the metadata.
type crsNames struct {
	known map[string]string
	of    func(crs string) string // Config.CRS
}

func newCRSNames(cfg Config) crsNames { return crsNames{map[string]string{}, cfg.CRS} }

// add records the metadata of a reference system. If two tables differ, such as OGC:CRS84 and
// EPSG:4326, neither is used.
func (n crsNames) add(crs, metadata string) {
	if other, ok := n.known[crs]; ok && other != metadata {
		metadata = n.metadataOf(crs)
	}
	n.known[crs] = metadata
}

// metadata returns the extension metadata of a column of the result. For a reference system that no
// table has, as from ST_Transform, it is made from the text.
func (n crsNames) metadata(crs string) string {
	if known, ok := n.known[crs]; ok {
		return known
	}
	return n.metadataOf(crs)
}

func (n crsNames) metadataOf(crs string) string {
	type metadata struct {
		CRS  any    `json:"crs"`
		Type string `json:"crs_type,omitempty"`
	}
	var m metadata
	switch {
	case crs == "":
		return "{}"
	case isCode(crs) && n.of != nil:
		return n.of(crs)
	case isCode(crs):
		m = metadata{crs, "authority_code"}
	case strings.HasPrefix(crs, "{") && json.Valid([]byte(crs)):
		m = metadata{json.RawMessage(crs), "projjson"}
	default:
		m.CRS = crs
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "{}" // not reached: strings and valid JSON
	}
	return string(text)
}

var code = regexp.MustCompile(`^[\w.-]+:[\w.-]+$`)

// isCode reports whether a reference system is an authority and its code, "EPSG:25832".
func isCode(crs string) bool { return code.MatchString(crs) }

// crsOf returns the extension metadata of a geometry column, the text of its reference system, and
// the code of that. Missing ones are "".
func crsOf(f arrow.Field) (metadata, crs, code string) {
	metadata, _ = f.Metadata.GetValue(extensionMetadata)
	var m struct {
		CRS json.RawMessage `json:"crs"`
	}
	if json.Unmarshal([]byte(metadata), &m) != nil || len(m.CRS) == 0 || string(m.CRS) == "null" {
		return metadata, "", ""
	}
	if json.Unmarshal(m.CRS, &crs) == nil {
		if isCode(crs) {
			code = crs
		}
		return metadata, crs, code
	}
	var projJSON struct {
		ID struct {
			Authority string          `json:"authority"`
			Code      json.RawMessage `json:"code"`
		} `json:"id"`
	}
	if json.Unmarshal(m.CRS, &projJSON) == nil && projJSON.ID.Authority != "" {
		code = projJSON.ID.Authority + ":" + strings.Trim(string(projJSON.ID.Code), `"`)
	}
	return metadata, string(m.CRS), code
}

// withCRS sets the reference system that DuckDB gets for a geometry column.
func withCRS(f arrow.Field, crs, kind string) arrow.Field {
	text, _ := json.Marshal(map[string]string{"crs": crs, "crs_type": kind})
	f.Metadata = arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{wkbExtension, string(text)})
	return f
}

// placeholder begins the PROJJSON text that DuckDB gets for a reference system that it does not
// know and would drop. DuckDB keeps such a text. It has a name and no parameters, and functions
// that compute with it return an error.
const placeholder = `{"type":"EngineeringCRS","name":`

func withPlaceholder(f arrow.Field, crs string) arrow.Field {
	name, _ := json.Marshal(crs)
	f.Metadata = arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{
		wkbExtension,
		`{"crs":` + placeholder + string(name) + `},"crs_type":"projjson"}`,
	})
	return f
}

// crsMacro makes ST_CRS return a code, or the text of the file, and never the placeholder.
const crsMacro = `CREATE MACRO main.st_crs(geom) AS CASE
WHEN starts_with(system.main.st_crs(geom), '` + placeholder + `')
    THEN json_extract_string(system.main.st_crs(geom), '$.name')
WHEN starts_with(system.main.st_crs(geom), '{')
    THEN coalesce(json_extract_string(system.main.st_crs(geom), '$.id.authority') || ':' ||
  json_extract_string(system.main.st_crs(geom), '$.id.code'), system.main.st_crs(geom))
ELSE system.main.st_crs(geom) END`

// geometryType finds how DuckDB keeps the reference system of a geometry column: by its code, by
// its text, or as a placeholder, the first that DuckDB does not drop. It returns the field for
// DuckDB and its type, which the caller destroys.
func (c *Conn) geometryType(f arrow.Field, given duckdb.LogicalType) (arrow.Field, duckdb.LogicalType, error) {
	metadata, crs, code := crsOf(f)
	if crs == "" {
		return f, given, nil
	}
	cfg := c.in.database.cfg
	var tries []arrow.Field
	name := crs
	switch {
	case isWGS84(code):
		tries = append(tries, withCRS(f, cfg.wgs84(), "authority_code"))
	case code != "":
		tries, name = append(tries, withCRS(f, code, "authority_code")), code
		if cfg.Spatial != "" {
			tries = append(tries, f)
		}
	default:
		tries = append(tries, f)
	}
	t := given
	for _, told := range append(tries, withPlaceholder(f, name)) {
		duckdb.DestroyLogicalType(&t)
		var err error
		if t, err = c.logicalType(told); err != nil {
			return f, t, err
		}
		if kept := duckdb.GeometryTypeGetCRS(t); kept != "" {
			c.call.crs.add(kept, metadata)
			return told, t, nil
		}
	}
	return f, t, &Error{Kind: Unsupported, Message: "DuckDB drops the coordinate reference system " + crs, Position: -1}
}

// withOneWGS84 replaces the other name of WGS 84 in a query by the one that DuckDB has, which is as
// long. It does so where the name is a reference system: in arguments of crsFunctions, in
// comparisons with ST_CRS, and in casts.
func withOneWGS84(text string, tree any, offset int, name string) string {
	b := []byte(text)
	rename(b, tree, offset, name)
	found := crsCast.FindAllIndex(b, -1)
	// the tree does not have their positions, and one of those found may be a part of a text
	if len(found) != wgs84Casts(tree) {
		return string(b)
	}
	for _, at := range found {
		end := bytes.LastIndexByte(b[:at[1]], '\'')
		copy(b[end-len(name):], name)
	}
	return string(b)
}

// wgs84Casts counts the casts to geometries of WGS 84.
func wgs84Casts(node any) (n int) {
	switch v := node.(type) {
	case []any:
		for _, v := range v {
			n += wgs84Casts(v)
		}
	case map[string]any:
		if modifiers, _ := v["user_type_modifiers"].([]any); len(modifiers) == 1 {
			if m, _ := modifiers[0].(map[string]any); isWGS84(text(m["value"])) {
				n++
			}
		}
		for _, v := range v {
			n += wgs84Casts(v)
		}
	}
	return n
}

var crsCast = regexp.MustCompile(fmt.Sprintf(`(?i)\bGEOMETRY\s*\(\s*'(?:%s|%s)'\s*\)`, wgs84EPSG, wgs84OGC))

func rename(text []byte, node any, offset int, name string) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			rename(text, v, offset, name)
		}
	case map[string]any:
		if _, ok := crsFunctions[functionName(n)]; ok && n["class"] == "FUNCTION" {
			children, _ := n["children"].([]any)
			for _, child := range children {
				renameConstant(text, child, offset, name)
			}
		}
		for _, sides := range [][2]string{{"left", "right"}, {"right", "left"}} {
			if f, ok := n[sides[0]].(map[string]any); ok && functionName(f) == "st_crs" {
				renameConstant(text, n[sides[1]], offset, name)
			}
		}
		for _, v := range n {
			rename(text, v, offset, name)
		}
	}
}

// renameConstant replaces a text that is one of the names of WGS 84.
func renameConstant(query []byte, node any, offset int, name string) {
	n, _ := node.(map[string]any)
	value, _ := n["value"].(map[string]any)
	at, ok := n["query_location"].(float64)
	if n["class"] != "CONSTANT" || !isWGS84(text(value["value"])) || !ok || at < 0 || int(at)+offset+
		len(name)+2 > len(query) {
		return
	}
	if literal := query[int(at)+offset:][:len(name)+2]; literal[0] == '\'' && isWGS84(string(literal[1:len(name)+1])) {
		copy(literal[1:], name)
	}
}
