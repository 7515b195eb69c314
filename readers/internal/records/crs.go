package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// crsOf reads the "crs" of GeoArrow or GeoParquet metadata: PROJJSON, a name or a definition as
// text, null.
func crsOf(said json.RawMessage) (geoarrow.CRS, error) {
	said = bytes.TrimSpace(said)
	if len(said) == 0 || string(said) == "null" {
		return geoarrow.CRS{}, nil
	}
	if !utf8.Valid(said) {
		return geoarrow.CRS{}, errors.New("crs: not UTF-8")
	}
	if said[0] == '{' {
		return crsOfJSON(said)
	}
	var text string
	if err := json.Unmarshal(said, &text); err != nil {
		return geoarrow.CRS{}, fmt.Errorf("crs: want PROJJSON, a text or null: %w", err)
	}
	if json.Valid([]byte(text)) && len(text) > 0 && text[0] == '{' {
		return crsOfJSON([]byte(text))
	}
	if crs, ok := geoarrow.ParseCRS(text); ok {
		return crs, nil
	}
	return geoarrow.CRSOfWKT(text), nil
}

// crsOfJSON returns the registered system that a PROJJSON names or defines, or its text.
func crsOfJSON(definition []byte) (geoarrow.CRS, error) {
	var said struct {
		ID struct {
			Authority string          `json:"authority"`
			Code      json.RawMessage `json:"code"`
		} `json:"id"`
	}
	if err := json.Unmarshal(definition, &said); err != nil {
		return geoarrow.CRS{}, fmt.Errorf("crs: %w", err)
	}
	if code := string(bytes.Trim(said.ID.Code, `"`)); said.ID.Authority != "" && code != "" {
		if crs, ok := geoarrow.ParseCRS(said.ID.Authority + ":" + code); ok {
			return crs, nil
		}
	}
	var text bytes.Buffer
	if err := json.Compact(&text, definition); err != nil {
		return geoarrow.CRS{}, fmt.Errorf("crs: %w", err)
	}
	return geoarrow.CRSOfWKT(text.String()), nil
}
