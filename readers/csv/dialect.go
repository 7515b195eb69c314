package csv

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// dialect is the syntax of a file and its columns: what every parser must know before the first
// record. It is immutable once found.
type dialect struct {
	delimiter  byte // 0: to be found
	quote      byte // 0: none
	class      [256]class
	comma      bool // numbers have a decimal comma
	pad        bool // ragged records are no error
	text       bool // no column is typed
	keep       bool // geometry columns stay attributes
	skipErrors bool
	nullErrors bool
	repair     bool

	eitherPoint bool     // it is unknown whether ordinates have a decimal comma
	commaPoints bool     // ordinates have one
	guessed     bool     // the columns of the geometry were guessed, not named by an option
	charset     *charset // nil: UTF-8

	names    [][]byte // of all columns, all different, UTF-8
	fields   []use    // use of each column
	shape    []int    // the columns of the geometry, ascending
	geometry geometryForm
	crs      geoarrow.CRS // by option
	prj      geoarrow.CRS // of the .prj
	first    int64        // offset of the first record after the header
	final    bool         // rows appended to the file would not change the dialect
}

// class is the meaning of a byte outside of quotes.
type class uint8

const (
	classPlain     class = 0
	classDelimiter class = 1 << iota
	classLineEnd
	classQuote // the highest one
)

// endsField has the classes of bytes that may follow a field.
const endsField = classDelimiter | classLineEnd

// use is the set of uses of a column.
type use uint8

const (
	useAttribute use = 1 << iota
	useX
	useY
	useCell  // a whole geometry
	useGuess // of a guessed geometry: also an attribute if a value is something else
)

// geometryForm is the notation of geometries in a file.
type geometryForm uint8

const (
	noGeometry geometryForm = iota
	points                  // x and y in a column each
	wktCells
	wkbCells    // hexadecimal
	jsonCells   // geometry objects of GeoJSON
	latLonCells // "(40.7, -73.9)"
)

// newDialect returns the dialect as determined by the options and the file's name.
func newDialect(name string, opts readers.Options) (*dialect, error) {
	d := &dialect{
		comma: opts.Get(optDecimal) == ",", pad: opts.Get(optRagged) == "pad", text: opts.Get(optTypes) == "string",
		keep: opts.Get(optKeep) == "true", skipErrors: opts.SkipErrors(), final: true,
		nullErrors: opts.NullErrors(), repair: opts.Repairs(), eitherPoint: opts.Get(optDecimal) == auto,
	}
	d.class['\n'], d.class['\r'] = classLineEnd, classLineEnd
	var err error
	if d.charset, err = charsetOf(opts.Get(optEncoding)); err != nil {
		return nil, &readers.OptionError{Option: optEncoding, Err: err}
	}
	switch quote := opts.Get(optQuote); {
	case quote == "none":
	case len(quote) == 1 && separates(quote[0]) && (d.charset == nil || d.charset.allows(quote[0])):
		d.quote = quote[0]
		d.class[quote[0]] = classQuote
	default:
		return nil, &readers.OptionError{
			Option: optQuote,
			Err:    fmt.Errorf("%q: want one byte of ASCII that no number and no name is made of, or none", quote),
		}
	}
	if crs := opts.Get(optCRS); crs != "" {
		var ok bool
		if d.crs, ok = geoarrow.ParseCRS(crs); !ok {
			return nil, &readers.OptionError{
				Option: optCRS,
				Err:    fmt.Errorf("%q names no coordinate reference system; want one as EPSG:3857 or OGC:CRS84", crs),
			}
		}
	}
	return d, d.readDelimiter(name, opts.Get(optDelimiter))
}

// separates reports whether a byte may be a delimiter or a quote.
func separates(c byte) bool {
	return c > 0 && c < 0x80 && c != '\r' && c != '\n' && !strings.ContainsRune("+-._", rune(c)) &&
		c-'0' > 9 && (c|0x20)-'a' > 25
}

// readDelimiter sets the delimiter if the option or the extension determines it.
func (d *dialect) readDelimiter(name, option string) error {
	switch {
	case option == auto:
		switch strings.ToLower(path.Ext(name)) {
		case ".tsv", ".tab":
			d.setDelimiter('\t')
		case ".psv":
			d.setDelimiter('|')
		}
	case option == "tab":
		d.setDelimiter('\t')
	case len(option) != 1 || !separates(option[0]) || d.class[option[0]] != classPlain:
		return &readers.OptionError{
			Option: optDelimiter, Err: fmt.Errorf(
				"%q: want one byte of ASCII that is not the quote, and that no number and no name is made of; tab; "+
					"or auto", option,
			),
		}
	default:
		d.setDelimiter(option[0])
	}
	switch {
	case d.delimiter == ',' && d.comma:
		return &readers.OptionError{Option: optDecimal, Err: errors.New(`"," is the delimiter`)}
	case d.charset != nil && !d.charset.allows(d.delimiter):
		return &readers.OptionError{Option: optDelimiter, Err: fmt.Errorf("%q may be a part of another character in %s",
			string(d.delimiter), d.charset.name)}
	}
	return nil
}

func (d *dialect) setDelimiter(c byte) {
	d.delimiter = c
	d.class[c] = classDelimiter
}
