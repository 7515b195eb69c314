package parquet

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/internal/records"
)

// This file handles the logical types of parquet-format 2.11 that Arrow's own code does not know:
// GEOMETRY and GEOGRAPHY are read here, and other members of the union are ignored, as
// LogicalTypes.md prescribes.

// Fields of parquet.thrift.
const (
	fieldLogicalType = 10 // of SchemaElement

	memberString    = 1 // of LogicalType
	memberFloat16   = 15
	memberGeometry  = 17
	memberGeography = 18

	fieldCRS       = 1 // of GeometryType and GeographyType
	fieldAlgorithm = 2 // of GeographyType
)

// edgeAlgorithms are EdgeInterpolationAlgorithm by number, in the words of GeoArrow.
var edgeAlgorithms = [...]string{"spherical", "vincenty", "thomas", "andoyer", "karney"}

// logical is a GEOMETRY or a GEOGRAPHY.
type logical struct {
	crs   string // "": OGC:CRS84
	edges string // "": planar
}

// elements are the logical types of a schema that Arrow's own code does not know.
type elements struct {
	leaves  int              // seen so far
	logical map[int]*logical // by the number of the column
}

// element reads a SchemaElement. If Arrow's own code refuses its logical type, the field gets a
// number that this code skips.
func (w *thrift) element(into *elements) (children int64, err error) {
	var found *logical
	head := w.at
	err = w.fields(1, func(id int, kind byte) error {
		start := head
		var err error
		switch {
		case id == fieldChildren && kind == thriftI32:
			children, err = w.i32()
		case id == fieldLogicalType && kind == thriftStruct:
			var known bool
			if found, known, err = w.logicalType(); err == nil && !known {
				err = w.hide(start)
			}
		default:
			err = w.skip(kind, 1)
		}
		head = w.at
		return err
	})
	if children == 0 {
		if found != nil {
			into.logical[into.leaves] = found
		}
		into.leaves++
	}
	return children, err
}

// hide adds 1 to the number of the field whose head is at an offset: field 11 of SchemaElement, of
// which there is none.
//
//	short head  delta (4 bits), type (4 bits)
//	long head   0 (4 bits), type (4 bits), number in zigzag
func (w *thrift) hide(at int) error {
	switch w.b[at] >> 4 {
	case 0:
		w.b[at+1] += 2
	case 15:
		return errors.New("a field of a schema element has a negative number")
	default:
		w.b[at] += 1 << 4
	}
	return nil
}

// logicalType reads the union LogicalType. known: Arrow's own code knows its member.
func (w *thrift) logicalType() (found *logical, known bool, err error) {
	err = w.fields(2, func(id int, kind byte) error {
		if kind == thriftStruct && (id == memberGeometry || id == memberGeography) {
			var err error
			found, err = w.geospatial(id == memberGeography)
			return err
		}
		known = known || id >= memberString && id <= memberFloat16 && id != 9
		return w.skip(kind, 2)
	})
	return found, known, err
}

func (w *thrift) geospatial(geography bool) (*logical, error) {
	l := &logical{}
	if geography {
		l.edges = edgeAlgorithms[0]
	}
	return l, w.fields(3, func(id int, kind byte) (err error) {
		switch {
		case id == fieldCRS && kind == thriftBinary:
			l.crs, err = w.text()
		case id == fieldAlgorithm && kind == thriftI32 && geography:
			var number int64
			if number, err = w.i32(); number >= 0 && number < int64(len(edgeAlgorithms)) {
				l.edges = edgeAlgorithms[number]
			}
		default:
			err = w.skip(kind, 3)
		}
		return err
	})
}

// metadata is that of a GeoArrow column for the logical type. property gives the file's key-value
// metadata.
//
//	srid:32632, EPSG:32632, OGC:CRS84    the code of an authority, EPSG where none is named
//	srid:0                               no reference system
//	projjson:name                        PROJJSON in the metadata name
//	{…}                                  PROJJSON
func (l *logical) metadata(property func(name string) (string, bool)) arrow.Metadata {
	var said struct {
		CRS   any    `json:"crs"`
		Edges string `json:"edges,omitempty"`
	}
	said.CRS, said.Edges = l.crs, l.edges
	scheme, name, _ := strings.Cut(l.crs, ":")
	definition, there := property(name)
	switch {
	case strings.TrimSpace(l.crs) == "":
		said.CRS = "OGC:CRS84"
	case strings.EqualFold(scheme, "srid") && strings.Trim(name, "0") == "":
		said.CRS = nil
	case strings.EqualFold(scheme, "srid"):
		said.CRS = "EPSG:" + name
	case strings.EqualFold(scheme, "projjson") && there && json.Valid([]byte(definition)):
		said.CRS = json.RawMessage(definition)
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic(err) // of texts, and JSON that was found valid
	}
	return arrow.NewMetadata(
		[]string{records.ExtensionName, records.ExtensionMetadata, records.LogicalType},
		[]string{"geoarrow.wkb", string(text), "GEOMETRY"},
	)
}
