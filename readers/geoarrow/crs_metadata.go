package geoarrow

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// PROJJSON gives the definition of a registered system, or a text that is one itself. The bytes are
// shared.
func (c CRS) PROJJSON() (json.RawMessage, bool) {
	if strings.HasPrefix(c.Text, "{") {
		return json.RawMessage(c.Text), crs.Readable(c.Text)
	}
	return crs.PROJJSON(c.Authority, c.Code)
}

// Unread is what the file says of a system that is neither registered nor a definition which PROJ
// could read: clients would fail with it, so they do not get it.
func (c CRS) Unread() string {
	if _, ok := c.PROJJSON(); ok || crs.Readable(c.Text) {
		return ""
	}
	return c.String()
}

// crsMetadata is the JSON object of GeoArrow 0.2, "Extension metadata".
type crsMetadata struct {
	CRS  any    `json:"crs,omitempty"`
	Type string `json:"crs_type,omitempty"`
}

// Metadata is the extension metadata of a geometry column, a JSON object:
//
//	registered system  {"crs":{PROJJSON},"crs_type":"projjson"}
//	PROJJSON           {"crs":{PROJJSON},"crs_type":"projjson"}
//	other definition   {"crs":"text"}
//	none, or unread    {}
func (c CRS) Metadata() string {
	var m crsMetadata
	if text, ok := c.PROJJSON(); ok {
		m = crsMetadata{text, "projjson"}
	} else if c.Text != "" && c.Unread() == "" {
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
