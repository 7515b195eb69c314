package flatgeobuf

import (
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Fields of the table of a reference system.
const (
	crsOrg        = 0
	crsCode       = 1
	crsWKT        = 4
	crsCodeString = 5
)

// parseCRS returns the system of the registered name, if there is one, else of the text.
func (h *header) parseCRS(t *table) *fault {
	c, there, err := t.child(headerCRS)
	if err != nil || !there {
		return err
	}
	var texts [3]string
	for i, field := range [...]int{crsOrg, crsCodeString, crsWKT} {
		if texts[i], _, err = c.text(field); err != nil {
			return err
		}
	}
	number, err := c.number(crsCode, 4, 0)
	if err != nil {
		return err
	}
	org, code, wkt := texts[0], texts[1], texts[2]
	if org == "" {
		org = "EPSG"
	}
	if code == "" && number != 0 {
		code = strconv.Itoa(int(int32(number)))
	}
	if code != "" {
		if crs, ok := geoarrow.ParseCRS(org + ":" + code); ok {
			h.crs = crs
			return nil
		}
	}
	switch {
	case strings.TrimSpace(wkt) != "":
		h.crs = geoarrow.CRSOfWKT(wkt)
	case code != "":
		h.crs = geoarrow.CRS{Text: org + ":" + code}
	}
	return nil
}
