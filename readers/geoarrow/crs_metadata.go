package geoarrow

import (
	"bytes"
	"encoding/json"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// PROJJSON gives the definition of a registered system, or a text that is one itself. The bytes are shared.
func (c CRS) PROJJSON() (json.RawMessage, bool) {
	if c.isDefinition() {
		return json.RawMessage(c.Text), json.Valid([]byte(c.Text))
	}
	return crs.PROJJSON(c.Authority, c.Code)
}

// crsMetadata is the JSON object of GeoArrow 0.2, "Extension metadata".
type crsMetadata struct {
	CRS  any    `json:"crs,omitempty"`
	Type string `json:"crs_type,omitempty"`
}

// Metadata is the extension metadata of a geometry column, a JSON object:
//
//	registered system  {"crs":{PROJJSON},"crs_type":"projjson"}
//	other code         {"crs":"AUTHORITY:CODE","crs_type":"authority_code"}
//	other text         {"crs":"text"}
//	none               {}
func (c CRS) Metadata() string {
	var m crsMetadata
	if text, ok := c.PROJJSON(); ok {
		m = crsMetadata{text, "projjson"}
	} else if c.Authority != "" {
		m = crsMetadata{c.String(), "authority_code"}
	} else if c.Text != "" {
		m = crsMetadata{CRS: c.Text}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic("geoarrow: " + err.Error()) // the embedded JSON was read by the same package
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
