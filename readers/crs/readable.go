package crs

import (
	"encoding/json"
	"strings"
)

// Readable reports a definition that PROJ can read, in WKT or PROJJSON; what it gets for one that
// only looks like that is an error.
func Readable(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		if d, ok := defineJSON([]byte(text)); ok {
			return d.name != ""
		}
		var other struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			Datum *struct {
				Name string `json:"name"`
			} `json:"datum"`
		}
		return json.Unmarshal([]byte(text), &other) == nil && other.Type == "EngineeringCRS" && other.Datum != nil
	}
	nodes, err := parseWKT(text)
	if err != nil || nodes[0].round {
		return false
	}
	switch nodes[0].keyword {
	case "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS":
		return len(nodes[0].values) > 0
	}
	d, ok := define(text)
	return ok && d.name != ""
}
