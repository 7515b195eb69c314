package gpx

// column is a leading column of a layer.
type column uint8

// The leading columns, in GDAL's order.
const (
	columnPath    column = iota // number of the track or route
	columnSegment               // number of the segment in its track
	columnNumber                // number of the position in its segment or route
	columnEle
	columnTime
	columnCourse
	columnSpeed
	columnMagvar
	columnGeoidheight
	columnName
	columnCmt
	columnDesc
	columnSrc
	columnURL
	columnURLName
	columnLink1Href
	columnLink1Text
	columnLink1Type
	columnLink2Href
	columnLink2Text
	columnLink2Type
	columnPathNumber // the element number of a route or track
	columnSym
	columnType
	columnFix
	columnSat
	columnHdop
	columnVdop
	columnPdop
	columnAgeofdgpsdata
	columnDgpsid

	leadingColumns
	noColumn
)

// valueKind is the type of a value.
type valueKind uint8

const (
	kindText valueKind = iota
	kindDecimal
	kindInteger
	kindTime
)

// leading are the names and types of the leading columns. The names of numbers depend on the layer.
var leading = [leadingColumns]struct {
	name string
	kind valueKind
}{
	columnPath:          {"", kindInteger},
	columnSegment:       {"track_seg_id", kindInteger},
	columnNumber:        {"", kindInteger},
	columnEle:           {"ele", kindDecimal},
	columnTime:          {"time", kindTime},
	columnCourse:        {"course", kindDecimal},
	columnSpeed:         {"speed", kindDecimal},
	columnMagvar:        {"magvar", kindDecimal},
	columnGeoidheight:   {"geoidheight", kindDecimal},
	columnName:          {"name", kindText},
	columnCmt:           {"cmt", kindText},
	columnDesc:          {"desc", kindText},
	columnSrc:           {"src", kindText},
	columnURL:           {"url", kindText},
	columnURLName:       {"urlname", kindText},
	columnLink1Href:     {"link1_href", kindText},
	columnLink1Text:     {"link1_text", kindText},
	columnLink1Type:     {"link1_type", kindText},
	columnLink2Href:     {"link2_href", kindText},
	columnLink2Text:     {"link2_text", kindText},
	columnLink2Type:     {"link2_type", kindText},
	columnPathNumber:    {"number", kindInteger},
	columnSym:           {"sym", kindText},
	columnType:          {"type", kindText},
	columnFix:           {"fix", kindText},
	columnSat:           {"sat", kindInteger},
	columnHdop:          {"hdop", kindDecimal},
	columnVdop:          {"vdop", kindDecimal},
	columnPdop:          {"pdop", kindDecimal},
	columnAgeofdgpsdata: {"ageofdgpsdata", kindDecimal},
	columnDgpsid:        {"dgpsid", kindInteger},
}

// elementColumn returns the column of the text of an element of GPX; noColumn: it has none.
func elementColumn(name []byte) column {
	switch string(name) {
	case "ele":
		return columnEle
	case "time":
		return columnTime
	case "course":
		return columnCourse
	case "speed":
		return columnSpeed
	case "magvar":
		return columnMagvar
	case "geoidheight":
		return columnGeoidheight
	case "name":
		return columnName
	case "cmt":
		return columnCmt
	case "desc":
		return columnDesc
	case "src":
		return columnSrc
	case "url":
		return columnURL
	case "urlname":
		return columnURLName
	case "number":
		return columnPathNumber
	case "sym":
		return columnSym
	case "type":
		return columnType
	case "fix":
		return columnFix
	case "sat":
		return columnSat
	case "hdop":
		return columnHdop
	case "vdop":
		return columnVdop
	case "pdop":
		return columnPdop
	case "ageofdgpsdata":
		return columnAgeofdgpsdata
	case "dgpsid":
		return columnDgpsid
	}
	return noColumn
}

// presence says whether a table has a column.
type presence uint8

const (
	absent presence = iota
	always
	optional // if a row has a value
)

// header determines the leading columns of a table.
type header struct {
	layer layer
	v10   bool // the version of the file is 1.0
}

// name returns the name of a column.
func (h header) name(c column) string {
	switch {
	case c == columnPath && h.layer == trackPoints:
		return "track_fid"
	case c == columnPath:
		return "route_fid"
	case c == columnNumber && h.layer == trackPoints:
		return "track_seg_point_id"
	case c == columnNumber:
		return "route_point_id"
	}
	return leading[c].name
}

// has returns whether the table has a column. A column that GDAL has is always there.
func (h header) has(c column) presence {
	switch c {
	case columnName, columnCmt, columnDesc, columnSrc, columnType:
		return always
	case columnPath, columnNumber:
		return alwaysIf(h.layer.isNumbered())
	case columnSegment:
		return alwaysIf(h.layer == trackPoints)
	case columnPathNumber:
		return alwaysIf(!h.layer.isPoints())
	case columnURL, columnURLName:
		return orOptional(h.v10 && h.layer.isPoints())
	case columnLink1Href, columnLink1Text, columnLink1Type, columnLink2Href, columnLink2Text, columnLink2Type:
		return orOptional(!h.v10 || !h.layer.isPoints())
	case columnCourse, columnSpeed:
		if h.layer.isPoints() {
			return orOptional(h.v10 && h.layer == trackPoints)
		}
		return absent
	}
	return alwaysIf(h.layer.isPoints())
}

func alwaysIf(yes bool) presence {
	if yes {
		return always
	}
	return absent
}

func orOptional(yes bool) presence {
	if yes {
		return always
	}
	return optional
}
