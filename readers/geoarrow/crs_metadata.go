package geoarrow

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"sync"
)

// projJSONText is made by crs/projjson.py.
//
//go:embed crs/projjson.json.gz
var projJSONText []byte

// projJSON is the embedded PROJJSON by "AUTHORITY:CODE", unpacked when first asked for.
var projJSON = sync.OnceValue(func() map[string]json.RawMessage {
	z, err := gzip.NewReader(bytes.NewReader(projJSONText))
	if err != nil {
		panic("geoarrow: crs/projjson.json.gz: " + err.Error())
	}
	var systems map[string]json.RawMessage
	if err := json.NewDecoder(z).Decode(&systems); err != nil {
		panic("geoarrow: crs/projjson.json.gz: " + err.Error())
	}
	return systems
})

// PROJJSON gives the definition of a registered system that is embedded: CRS84 and some 400 EPSG codes. The bytes are shared.
func (c CRS) PROJJSON() (json.RawMessage, bool) {
	if c.Authority == "" {
		return nil, false
	}
	text, ok := projJSON()[c.String()]
	return text, ok
}

// crsMetadata is the JSON object of GeoArrow 0.2, "Extension metadata".
type crsMetadata struct {
	CRS  any    `json:"crs,omitempty"`
	Type string `json:"crs_type,omitempty"`
}

// Metadata is the extension metadata of a geometry column, a JSON object:
//
//	embedded system    {"crs":{PROJJSON},"crs_type":"projjson"}
//	registered system  {"crs":"AUTHORITY:CODE","crs_type":"authority_code"}
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
