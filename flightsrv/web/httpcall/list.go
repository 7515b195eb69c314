package httpcall

import (
	"encoding/json"
	"strings"
)

// ListOf reads a parameter that is a list of texts: separated by commas, or a JSON array if it begins
// with a bracket.
func ListOf(value string) ([]string, error) {
	if !strings.HasPrefix(value, "[") {
		return strings.Split(value, ","), nil
	}
	var list []string
	if err := json.Unmarshal([]byte(value), &list); err != nil {
		return nil, BadRequest("a list is neither separated by commas nor a JSON array of texts: " + err.Error())
	}
	return list, nil
}
