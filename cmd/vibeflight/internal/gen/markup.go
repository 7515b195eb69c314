package gen

const (
	kmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>places</name><Folder><name>places</name>` + "\n"
	kmlTail = "</Folder></Document></kml>\n"

	gmlHead = `<?xml version="1.0" encoding="utf-8" ?>` + "\n" +
		`<ogr:FeatureCollection gml:id="c" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
		`xmlns:ogr="http://ogr.maptools.org/" xmlns:gml="http://www.opengis.net/gml/3.2">` + "\n"
	gmlTail = "</ogr:FeatureCollection>\n"
)

// placemark writes a point, a line or a polygon in Florida, with markup in its description and
// untyped values.
func (c *chunk) placemark(i int64) {
	street := streets[c.below(int64(len(streets)))]
	c.string(`<Placemark id="p`)
	c.integer(i)
	c.string(`"><name>`)
	c.string(street)
	c.string(` &amp; Co</name><description><![CDATA[<b>no. `)
	c.integer(i)
	c.string(`</b>]]></description><ExtendedData><Data name="code"><value>`)
	c.integer(c.below(1e6))
	c.string(`</value></Data><Data name="kind"><value>`)
	c.string(street[:4])
	c.string(`</value></Data></ExtendedData>`)
	kind, corners := c.below(100), c.corners()
	x, y := c.florida()
	outline := c.outline(x, y, 2000, 10, corners, false)
	switch {
	case kind < 50:
		c.string("<Point>")
		c.tuples(outline[:1])
		c.string("</Point>")
	case kind < 70:
		c.string("<LineString>")
		c.tuples(outline[:corners])
		c.string("</LineString>")
	default:
		c.string("<Polygon><outerBoundaryIs><LinearRing>")
		c.tuples(outline)
		c.string("</LinearRing></outerBoundaryIs></Polygon>")
	}
	c.string("</Placemark>\n")
}

// tuples writes positions on the ground.
func (c *chunk) tuples(positions []position) {
	c.string("<coordinates>")
	c.pairs(positions, ",", ",0 ")
	c.string(",0</coordinates>")
}

// featureMember writes a parcel of land in GML 3.2, as GDAL does.
func (c *chunk) featureMember(i int64) {
	c.string(`<ogr:featureMember><ogr:parcels gml:id="parcels.`)
	c.integer(i)
	c.string(`"><ogr:geometryProperty><gml:Polygon srsName="urn:ogc:def:crs:OGC:1.3:CRS84" gml:id="g`)
	c.integer(i)
	c.string(`"><gml:exterior><gml:LinearRing><gml:posList>`)
	c.pairs(c.plot(false), " ", " ")
	c.string(`</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></ogr:geometryProperty><ogr:parcel_id>P-`)
	id := c.between(1e8, 9e8)
	c.integer(id)
	c.string(`</ogr:parcel_id><ogr:area>`)
	c.fixed(c.area(), 3)
	c.string(`</ogr:area><ogr:owner>`)
	c.oneOf(streets)
	c.string(` &amp; Sons</ogr:owner><ogr:year>`)
	c.integer(1950 + id%75)
	c.string("</ogr:year></ogr:parcels></ogr:featureMember>\n")
}

// area of a parcel of land in square metres, three decimals: 1,000 in the mean, as a number of
// degrees is written.
func (c *chunk) area() int64 {
	return c.between(1, 2000) * c.between(1, 2_000_000) / 1000 * (degree / 1000)
}
