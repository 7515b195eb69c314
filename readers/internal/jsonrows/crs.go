package jsonrows

import (
	"encoding/json"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// CRSMember returns the system of the valid crs member from p to end, as GeoJSON had it in 2008: by a
// name or a code.
func (s *Scanner) CRSMember(p, end int) (crs geoarrow.CRS) {
	var member struct {
		Type       string
		Properties struct {
			Name string
			Code any
		}
	}
	if err := json.Unmarshal(s.Text(p, end), &member); err != nil {
		return crs
	}
	name := member.Properties.Name
	if member.Properties.Code != nil {
		name = fmt.Sprintf("%s:%v", member.Type, member.Properties.Code)
	}
	crs, known := geoarrow.ParseCRS(name)
	if !known {
		crs = geoarrow.CRS{Text: name}
	}
	return crs
}
