package gen

import "time"

const (
	pointsCSVHead = "id,lat,lon,value,name,date,note\n"
	wktCSVHead    = "id,name,wkt\n"
)

// pointRecord writes a record of a point anywhere: text that needs quotes, doubled quotes, line
// ends inside of quotes, empty fields.
func (c *chunk) pointRecord(int64) {
	id := c.below(1e6)
	c.integer(id)
	c.byte(',')
	c.shortest(c.between(-85*degree, 85*degree) / 10 * 10)
	c.byte(',')
	c.shortest(c.between(-180*degree, 180*degree) / 10 * 10)
	c.byte(',')
	if rare := c.below(100); rare >= 3 {
		c.shortest(c.bell())
	}
	c.byte(',')
	street := streets[c.below(int64(len(streets)))]
	c.string(street)
	c.byte(',')
	c.date(time.DateOnly, 2025, 365)
	switch kind := c.below(100); {
	case kind < 35:
		c.string(`,"`)
		c.string(street)
		c.string(", unit ")
		c.integer(id % 100)
		c.byte('"')
	case kind < 40:
		c.string(",\"line one\nline \"\"two\"\"\"")
	case kind < 50:
		c.byte(',')
	default:
		c.string(",plain note")
	}
	c.byte('\n')
}

// date writes one of the given number of days from the first day of a year.
func (c *chunk) date(layout string, year int, days int64) {
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	c.text = first.AddDate(0, 0, int(c.below(days))).AppendFormat(c.text, layout)
}

// wktRecord writes a record of a parcel of land, its geometry as quoted WKT.
func (c *chunk) wktRecord(int64) {
	c.integer(c.below(1e6))
	c.byte(',')
	c.oneOf(streets)
	c.string(`,"`)
	c.wkt()
	c.string("\"\n")
}

// wktLine writes a parcel of land alone.
func (c *chunk) wktLine(int64) {
	c.wkt()
	c.byte('\n')
}

func (c *chunk) wkt() {
	c.string("POLYGON ((")
	c.pairs(c.plot(false), " ", ", ")
	c.string("))")
}
