package gpkg

import (
	"context"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// system is a row of gpkg_spatial_ref_sys.
type system struct {
	organization string
	code         int64
	definitions  [2]string // WKT 2 if there is any, and WKT 1
}

// readSystems returns the coordinate reference systems by their srs_id.
func (p *geoPackage) readSystems(ctx context.Context) (map[int64]system, error) {
	all := map[int64]system{}
	err := p.each(ctx, tableSystems, func(r record) error {
		s := system{code: r["organization_coordsys_id"].Int}
		for _, c := range [...]struct {
			name string
			to   *string
		}{
			{"organization", &s.organization},
			{"definition_12_063", &s.definitions[0]},
			{"definition", &s.definitions[1]},
		} {
			var err error
			if *c.to, err = p.text(r, c.name); err != nil {
				return err
			}
		}
		all[r["srs_id"].Int] = s
		return nil
	})
	return all, err
}

// Systems that are undefined: two of the standard, and the one of GDAL.
const (
	srsCartesian  = -1
	srsGeographic = 0
	gdalUndefined = "GDAL:99999"
)

// crs returns the registered system of an srs_id, else its definition; none for undefined ones.
func (p *geoPackage) crs(srs int64) geoarrow.CRS {
	s, ok := p.systems[srs]
	if !ok || srs == srsCartesian || srs == srsGeographic {
		return geoarrow.CRS{}
	}
	name := fmt.Sprintf("%s:%d", s.organization, s.code)
	if name == gdalUndefined {
		return geoarrow.CRS{}
	}
	if c, ok := geoarrow.ParseCRS(name); ok {
		return c
	}
	for _, text := range s.definitions {
		if text = strings.TrimSpace(text); text != "" && !strings.EqualFold(text, "undefined") {
			return geoarrow.CRSOfWKT(text)
		}
	}
	return geoarrow.CRS{Text: name}
}
