//go:build cgo

package duck

import (
	"encoding/json"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// The metadata of a geometry column, https://geoarrow.org/extension-types.html.
const (
	extensionName     = "ARROW:extension:name"
	extensionMetadata = "ARROW:extension:metadata"
	wkbExtension      = "geoarrow.wkb"
)

// crsNames is which extension metadata a coordinate reference system came with, for the tables of a statement. DuckDB keeps a column's reference system as
// text in its type, which is the key here, and drops or spells anew what else the metadata says.
type crsNames map[string]string

// metadata gives the extension metadata of a result's column. That of a reference system which no table has, as ST_Transform gives it, is made of its text.
func (n crsNames) metadata(crs string) string {
	if known, ok := n[crs]; ok {
		return known
	}
	type metadata struct {
		CRS  any    `json:"crs"`
		Type string `json:"crs_type,omitempty"`
	}
	var m metadata
	switch authority, code, ok := strings.Cut(crs, ":"); {
	case crs == "":
		return "{}"
	case strings.HasPrefix(crs, "{") && json.Valid([]byte(crs)):
		m = metadata{json.RawMessage(crs), "projjson"}
	case ok && isWord(authority) && isWord(code):
		m = metadata{crs, "authority_code"}
	default:
		m.CRS = crs
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "{}" // not reached: strings and valid JSON
	}
	return string(text)
}

func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != '.' && r != '-'
	}) < 0
}

// crsOf gives the extension metadata of a geometry column, and the reference system in it as text, "" where there is none.
func crsOf(f arrow.Field) (metadata, crs string) {
	metadata, _ = f.Metadata.GetValue(extensionMetadata)
	var m struct {
		CRS json.RawMessage `json:"crs"`
	}
	if json.Unmarshal([]byte(metadata), &m) != nil || len(m.CRS) == 0 || string(m.CRS) == "null" {
		return metadata, ""
	}
	if json.Unmarshal(m.CRS, &crs) == nil {
		return metadata, crs
	}
	return metadata, string(m.CRS)
}

// withStandIn gives the field with a reference system that DuckDB keeps, because its text is PROJJSON, instead of one that it does not know and would
// drop. It has the name, and nothing to compute with: the functions that do so say that they cannot.
func withStandIn(f arrow.Field, crs string) arrow.Field {
	name, _ := json.Marshal(crs)
	f.Metadata = arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{wkbExtension, `{"crs":{"type":"EngineeringCRS","name":` + string(name) + `},"crs_type":"projjson"}`})
	return f
}
