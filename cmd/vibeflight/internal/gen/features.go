package gen

const mixedHead = `{"type":"FeatureCollection","name":"mixed",` +
	`"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},"features":[` + "\n"

var (
	streets = []string{"Main St", "NW 7th Ave", "Ocean Dr", "Calle Ocho", "County Rd 12", "Palm Bay Blvd"}
	// awkward holds what the insides of JSON strings may look like, as they are written.
	awkward = []string{
		`say \"hi\"`, `a\\b`, `caf\u00e9`, "Española Way", "東京", `tab\there`, `emoji \ud83d\ude00`,
		`line\nbreak`, `]}{[`, `\"type\":\"Point\"`, `c:\\`,
	}
)

// building writes a footprint somewhere in Florida.
func (c *chunk) building(int64) {
	c.string(`{"type":"Feature","properties":{"rel":`)
	c.byte('1' + byte(c.below(4)))
	rare := c.below(100)
	c.string(`,"height":`)
	if rare >= 97 {
		c.string("null")
	} else {
		// Most are low: the product of two, 6 m in the mean.
		c.shortest(c.between(1, 2400) * c.between(1, 1000) / 1000 * (degree / 100))
	}
	c.string(`,"name":`)
	switch {
	case rare < 5:
		c.string("null")
	case rare < 10:
		c.byte('"')
		c.oneOf(awkward)
		c.byte('"')
	default:
		c.byte('"')
		c.oneOf(streets)
		c.byte('"')
	}
	c.string(`},"geometry":{"type":"Polygon","coordinates":[`)
	x, y := c.florida()
	c.ring(x, y, 2000, 1, c.corners(), false)
	c.string("]}}")
}

// florida returns a place in the box around Florida.
func (c *chunk) florida() (x, y int64) {
	return c.between(-876*degree/10, -80*degree), c.between(245*degree/10, 31*degree)
}

// corners of a building are 4 to 24, 7 in the mean: each one more is three in four as frequent.
func (c *chunk) corners() int64 {
	n := int64(4)
	for r := c.random(); n < 24 && r&3 != 0; r >>= 2 {
		n++
	}
	return n
}

// point writes a line with a point anywhere, with the properties of a measurement.
func (c *chunk) point(int64) {
	c.string(`{"type":"Feature","geometry":{"type":"Point","coordinates":[`)
	c.shortest(c.between(-180*degree, 180*degree) / 10 * 10)
	c.byte(',')
	c.shortest(c.between(-85*degree, 85*degree) / 10 * 10)
	c.string(`]},"properties":{"id":`)
	c.integer(c.below(1e6))
	rare := c.below(100)
	c.string(`,"value":`)
	if rare < 3 {
		c.string("null")
	} else {
		c.shortest(c.bell())
	}
	c.string(`,"name":"`)
	if rare >= 97 {
		c.oneOf(awkward)
	} else {
		c.oneOf(streets)
	}
	c.string(`","ts":`)
	c.integer(c.between(1.6e9, 1.7e9))
	if rare < 50 {
		c.string(`,"ok":true}}` + "\n")
	} else {
		c.string(`,"ok":false}}` + "\n")
	}
}

// bell returns a measurement of three decimals: four uniform ones make a bell, 50 in the mean,
// standard deviation 20.
func (c *chunk) bell() int64 {
	const width = 34641
	v := 50000 - 2*width + c.below(width) + c.below(width) + c.below(width) + c.below(width)
	return v * (degree / 1000)
}

// mixed writes any geometry anywhere. Every second feature has its properties first, spaced as
// Python's json.dumps does.
func (c *chunk) mixed(i int64) {
	c.string(`{"type":"Feature","id":`)
	c.integer(i)
	kind := c.below(100)
	if i%2 == 0 {
		c.string(`,"properties":`)
		c.mixedProperties(i, kind)
	}
	c.string(`,"geometry":`)
	c.mixedGeometry(i, kind)
	if i%2 == 1 {
		c.string(`,"properties":`)
		c.mixedProperties(i, kind)
	}
	c.byte('}')
}

func mixedKind(percent int64) string {
	switch {
	case percent < 30:
		return "Point"
	case percent < 50:
		return "LineString"
	case percent < 77:
		return "Polygon"
	case percent < 87:
		return "MultiPolygon"
	case percent < 89:
		return "MultiPoint"
	case percent < 91:
		return "MultiLineString"
	case percent < 95:
		return "GeometryCollection"
	}
	return "null"
}

func (c *chunk) mixedProperties(i, kind int64) {
	c.string(`{"id": `)
	c.integer(i)
	c.string(`, "kind": "`)
	c.string(mixedKind(kind))
	c.string(`", "v": `)
	if v := c.below(1_000_000); i%11 == 0 {
		c.string("null")
	} else {
		c.shortest(v * (degree / 1000))
	}
	if i%2 == 0 {
		c.string(`, "flag": false, "name": "`)
	} else {
		c.string(`, "flag": true, "name": "`)
	}
	c.oneOf(streets)
	if i%17 == 0 {
		if i%2 == 0 {
			c.string(` \"q\" é\n`)
		} else {
			c.string(` \"q\" \u00e9\n`)
		}
	}
	c.byte('"')
	if i%29 == 0 {
		c.string(`, "tags": {"a": [1, 2, {"b": null}]}`)
	}
	c.byte('}')
}

func (c *chunk) mixedGeometry(i, percent int64) {
	kind := mixedKind(percent)
	if kind == "null" {
		c.string("null")
		return
	}
	c.string(`{"type":"`)
	c.string(kind)
	if kind == "GeometryCollection" {
		c.string(`","geometries":[`)
	} else {
		c.string(`","coordinates":`)
	}
	x, y := c.between(-175*degree, 175*degree), c.between(-85*degree, 85*degree)
	switch kind {
	case "Point":
		c.mixedPoint(i, x, y)
	case "LineString", "MultiPoint":
		c.line(x, y, c.between(2, 30))
	case "MultiLineString":
		c.byte('[')
		c.line(x, y, c.between(2, 10))
		c.byte(',')
		c.line(x, y+degree, c.between(2, 10))
		c.byte(']')
	case "Polygon":
		c.polygon(x, y, c.between(4, 15), i%4 == 0)
	case "MultiPolygon":
		c.byte('[')
		for j := range c.between(1, 5) {
			if j > 0 {
				c.byte(',')
			}
			c.polygon(x+j*degree, y, c.between(4, 12), i%8 == 0)
		}
		c.byte(']')
	case "GeometryCollection":
		c.string(`{"type":"Point","coordinates":`)
		c.position(x, y)
		c.string(`},{"type":"LineString","coordinates":[`)
		c.position(x, y)
		c.byte(',')
		c.position(x+degree/10, y+degree/10)
		c.string("]}]")
	}
	c.byte('}')
}

// mixedPoint writes seven significant digits, and for each third point seven decimals and a height.
func (c *chunk) mixedPoint(i, x, y int64) {
	if i%3 == 0 {
		c.byte('[')
		c.fixed(x, 7)
		c.byte(',')
		c.fixed(y, 7)
		c.byte(',')
		c.fixed(c.below(100*degree), 2)
		c.byte(']')
		return
	}
	c.byte('[')
	c.shortest(significant(x))
	c.byte(',')
	c.shortest(significant(y))
	c.byte(']')
}

// significant cuts v to seven digits.
func significant(v int64) int64 {
	unit := int64(1)
	for max(v, -v)/unit >= degree {
		unit *= 10
	}
	return v / unit * unit
}

// line writes a list of positions that goes north-east.
func (c *chunk) line(x, y, positions int64) {
	c.byte('[')
	for j := range positions {
		if j > 0 {
			c.byte(',')
		}
		c.position(x+j*c.below(degree/1000), y+j*c.below(degree/1000))
	}
	c.byte(']')
}

// position writes one of six decimals.
func (c *chunk) position(x, y int64) {
	c.byte('[')
	c.fixed(x, 6)
	c.byte(',')
	c.fixed(y, 6)
	c.byte(']')
}

// polygon writes one of 0.01 degree, with or without a hole.
func (c *chunk) polygon(x, y, corners int64, hole bool) {
	c.byte('[')
	c.ring(x, y, degree/100, 10, corners, false)
	if hole {
		c.byte(',')
		c.ring(x, y, degree/1000, 10, 4, true)
	}
	c.byte(']')
}
