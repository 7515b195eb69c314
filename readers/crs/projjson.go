package crs

import (
	"encoding/json"
	"math"
)

// jsonCRS is the PROJJSON of a system, as far as definition has it.
type jsonCRS struct {
	Type             string      `json:"type"`
	Name             string      `json:"name"`
	Datum            *jsonDatum  `json:"datum"`
	Ensemble         *jsonDatum  `json:"datum_ensemble"`
	Base             *jsonCRS    `json:"base_crs"`
	Source           *jsonCRS    `json:"source_crs"`
	Components       []jsonCRS   `json:"components"`
	ID               jsonID      `json:"id"`
	CoordinateSystem jsonAxes    `json:"coordinate_system"`
	Conversion       *conversion `json:"conversion"`
}

type jsonID struct {
	Authority string          `json:"authority"`
	Code      json.RawMessage `json:"code"`
}

type jsonDatum struct {
	Name      string `json:"name"`
	Ellipsoid *struct {
		Radius    measure `json:"radius"`
		SemiMajor measure `json:"semi_major_axis"`
		SemiMinor measure `json:"semi_minor_axis"`
		Inverse   float64 `json:"inverse_flattening"`
	} `json:"ellipsoid"`
	PrimeMeridian *struct {
		Longitude measure `json:"longitude"`
	} `json:"prime_meridian"`
}

type jsonAxes struct {
	Subtype string `json:"subtype"`
	Axis    []struct {
		Direction string `json:"direction"`
		Unit      unit   `json:"unit"`
	} `json:"axis"`
}

type conversion struct {
	Method struct {
		Name string `json:"name"`
	} `json:"method"`
	Parameters []struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
		Unit  unit    `json:"unit"`
	} `json:"parameters"`
}

// unit is a name or an object with a conversion_factor; its value is that factor, 0 for none.
type unit float64

// UnmarshalJSON reads both forms.
func (u *unit) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		*u = map[string]unit{"metre": 1, "degree": degree, "unity": 1}[name]
		return nil
	}
	var o struct {
		Factor float64 `json:"conversion_factor"`
	}
	err := json.Unmarshal(text, &o)
	*u = unit(o.Factor)
	return err
}

// measure is a number, or one with a unit; in metres or degrees where none is said.
type measure struct {
	value float64
	unit  unit
}

// UnmarshalJSON reads both forms.
func (m *measure) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &m.value) == nil {
		return nil
	}
	var o struct {
		Value float64 `json:"value"`
		Unit  unit    `json:"unit"`
	}
	err := json.Unmarshal(text, &o)
	m.value, m.unit = o.Value, o.Unit
	return err
}

func (m measure) times(without float64) float64 {
	if m.unit == 0 {
		return m.value * without
	}
	return m.value * float64(m.unit)
}

func defineJSON(text []byte) (*definition, bool) {
	var c jsonCRS
	if len(text) > maxWKTBytes || json.Unmarshal(text, &c) != nil {
		return nil, false
	}
	return c.define()
}

var jsonKinds = map[string]Kind{
	"GeographicCRS": Geographic, "GeodeticCRS": Geocentric, "ProjectedCRS": Projected, "VerticalCRS": Vertical,
	"CompoundCRS": Compound, "BoundCRS": "bound",
}

func (c *jsonCRS) define() (*definition, bool) {
	d := &definition{
		kind: jsonKinds[c.Type], name: c.Name, dimensions: len(c.CoordinateSystem.Axis), angularUnit: degree, unit: 1,
	}
	if code := string(trimQuotes(c.ID.Code)); c.ID.Authority != "" {
		if s, ok := Lookup(c.ID.Authority, code); ok {
			d.id = s.ID()
		}
	}
	if axes := c.CoordinateSystem.Axis; len(axes) > 0 {
		d.axes, d.northFirst = true, axes[0].Direction == "north"
		switch u := float64(axes[0].Unit); {
		case u == 0:
		case d.kind == Geographic:
			d.angularUnit = u
		default:
			d.unit = u
		}
	}
	switch d.kind {
	case Geographic, Geocentric:
		if c.CoordinateSystem.Subtype == "ellipsoidal" {
			d.kind = Geographic
		}
		return d, d.ofDatum(c)
	case Projected:
		return d, c.Base != nil && c.Conversion != nil && d.ofDatum(c.Base) && d.converted(c.Conversion)
	case Vertical:
		if datum := c.datum(); datum != nil {
			d.datum = datum.Name
		}
		return d, d.datum != ""
	case Compound:
		for i := range c.Components {
			part, ok := c.Components[i].define()
			if !ok {
				return nil, false
			}
			d.parts = append(d.parts, part)
			d.dimensions += part.dimensions
		}
		return d, len(d.parts) == 2
	case "bound":
		if c.Source != nil {
			return c.Source.define()
		}
	}
	return nil, false
}

func (c *jsonCRS) datum() *jsonDatum {
	if c.Datum != nil {
		return c.Datum
	}
	return c.Ensemble
}

// ofDatum takes datum, ellipsoid and prime meridian of a geographic system.
func (d *definition) ofDatum(c *jsonCRS) bool {
	datum := c.datum()
	if datum == nil || datum.Ellipsoid == nil {
		return false
	}
	d.datum = datum.Name
	e := datum.Ellipsoid
	d.setEllipsoid(math.Max(e.SemiMajor.times(1), e.Radius.times(1)), e.Inverse)
	if minor := e.SemiMinor.times(1); minor > 0 {
		d.minor = minor
	}
	if datum.PrimeMeridian != nil {
		d.meridian = datum.PrimeMeridian.Longitude.times(degree)
	}
	return d.major > 0
}

func (d *definition) converted(c *conversion) bool {
	d.method = canonicalMethod(c.Method.Name)
	for _, p := range c.Parameters {
		d.set(p.Name, p.Value, float64(p.Unit))
	}
	return true
}

func trimQuotes(text []byte) []byte {
	if len(text) > 1 && text[0] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}
