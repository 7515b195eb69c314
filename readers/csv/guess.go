package csv

// Guess is a column, or a pair of columns, that may be the geometry of a table by its name.
type Guess struct {
	Cell int // of a whole geometry; -1: X and Y
	X, Y int

	Ranged bool // ordinates must be degrees in their range
	Widths bool // the first ordinates must have a fraction
	LatLon bool // the cell may hold a latitude and a longitude
}

// Guesses returns the columns that may be the geometry, in the order in which this format tries
// them. Formats of other tables share the rules for names.
func Guesses(names []string) (list []Guess) {
	d := &dialect{}
	for _, name := range names {
		d.names = append(d.names, []byte(name))
	}
	for _, c := range d.candidates(noGeometry) {
		list = append(list, Guess{
			Cell: c.cell, X: c.x, Y: c.y, Ranged: c.fresh && c.degrees, Widths: c.widths, LatLon: c.latLon,
		})
	}
	return list
}

// IsNull reports whether the text of a geometry or an ordinate means that there is none.
func IsNull(text []byte) bool { return nullLike(text) }
