// Package filegdb reads Esri File Geodatabases: folders .gdb, and .zip archives of one.
//
// Esri publishes no description of the format. The one by Even Rouault (dump_gdbtable, FGDB Spec) and
// the answers of GDAL's driver OpenFileGDB are what this package follows.
//
//	folder      a table is two files, a%08x.gdbtable and a%08x.gdbtablx, by its number in hexadecimal.
//	            Table 1, GDB_SystemCatalog, has the names of all tables: row i names table i. GDB_Items
//	            describes layers and domains in XML. Other files are indexes, which are not read
//	.gdbtable   header, field descriptions, { row }; see header.go, field.go
//	row         length (4), a bit for each nullable field (1: null), values in the order of the fields
//	value       a number, little-endian; or a length (varuint) and bytes; or a geometry, see geometry.go
//	varuint     7 bits in each byte, the lowest first; bit 7: more follow
//	varint      the same, but the first byte has 6 bits, and the sign in bit 6
//	.gdbtablx   header, offsets of rows (4 to 6 bytes each; 0: there is no such row) in blocks of 1,024,
//	            a trailer that says which blocks are there; see header.go
//
// Row i of the offsets has the OBJECTID i+1. Nothing in a file is trusted: each length is compared
// with the bytes that are left.
package filegdb

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "filegdb"
	unit       = "feature"
)

// Names of the options.
const (
	optionCurves  = "curves"
	optionDomains = "domains"
)

// Values of the options.
const (
	curvesFail, curvesLinearize = "fail", "linearize"
	domainsCodes, domainsText   = "codes", "text"
)

const mainFile = "a00000001.gdbtable"

// Format returns File Geodatabases.
func Format() readers.Format {
	return readers.Format{
		Name:    formatName,
		Unit:    unit,
		Version: 1,
		Bundle: source.Bundle{
			Extension: ".gdb", Main: mainFile,
			Members: []string{".gdbtable", ".gdbtablx", ".cdf", ".sdc"},
		},
		Binary:  true,
		Layered: true,
		Options: []readers.Option{
			{
				Name: optionCurves, Default: curvesFail, Values: []string{curvesFail, curvesLinearize},
				Doc: "what to do about circular arcs, Bézier curves and elliptic arcs: fail, or read them as " +
					"lines with a position every 4 degrees",
			},
			{
				Name: optionDomains, Default: domainsCodes, Values: []string{domainsCodes, domainsText},
				Doc: "values of fields with a coded value domain: the codes, or the texts that the domain has for them",
			},
		},
		Open: open,
		CPU:  func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}
