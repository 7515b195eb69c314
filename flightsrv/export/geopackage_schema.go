package export

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geoPackageTables are the tables of annex C of the standard, of a database without a journal, and
// the start of the only transaction. application_id is "GPKG", and user_version 1.4.0.
const geoPackageTables = `PRAGMA page_size = 4096;
PRAGMA application_id = 1196444487;
PRAGMA user_version = 10400;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
BEGIN EXCLUSIVE;
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY,
  organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL,
  description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL,
  identifier TEXT UNIQUE, description TEXT DEFAULT '',
  last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
  CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
  CONSTRAINT uk_gc_table_name UNIQUE (table_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL,
  definition TEXT NOT NULL, scope TEXT NOT NULL,
  CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
INSERT INTO gpkg_spatial_ref_sys VALUES
  ('Undefined Cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined Cartesian coordinate reference system'),
  ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system');
`

// quoteName returns a name as an identifier of SQL.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteText returns a text as a literal of SQL.
func quoteText(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

// rtree returns the quoted name of the index of rows, which the extension prescribes.
func (l *layer) rtree() string { return quoteName(l.rtreeName()) }

func (l *layer) rtreeName() string { return "rtree_" + l.name + "_" + l.schema.Field(l.shape).Name }

// create returns the statements for the table and the index of rows.
func (l *layer) create() string {
	columns := []string{quoteName(l.key) + " INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"}
	for i, f := range l.schema.Fields() {
		kind := geoPackageType(f)
		if i == l.shape {
			kind = "GEOMETRY"
		}
		columns = append(columns, quoteName(f.Name)+" "+kind)
	}
	text := "CREATE TABLE " + quoteName(l.name) + " (" + strings.Join(columns, ", ") + ");\n"
	if l.shape >= 0 {
		text += "CREATE VIRTUAL TABLE " + l.rtree() + " USING rtree(id, minx, maxx, miny, maxy);\n"
	}
	return text
}

// insert returns the statement that inserts a row: its key, then its columns.
func (l *layer) insert() string {
	return "INSERT INTO " + quoteName(l.name) + " VALUES (?" + strings.Repeat(",?", l.schema.NumFields()) + ")"
}

// geoPackageType returns the type of a column (table 1 of the standard). Types that GeoPackage lacks
// are TEXT. So are timestamps without a zone, because a DATETIME is in UTC.
func geoPackageType(f arrow.Field) string {
	switch t := f.Type.(type) {
	case *arrow.BooleanType:
		return "BOOLEAN"
	case *arrow.Int8Type:
		return "TINYINT"
	case *arrow.Int16Type, *arrow.Uint8Type:
		return "SMALLINT"
	case *arrow.Int32Type, *arrow.Uint16Type:
		return "MEDIUMINT"
	case *arrow.Int64Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return "INTEGER"
	case *arrow.Float32Type:
		return "FLOAT"
	case *arrow.Float64Type:
		return "DOUBLE"
	case *arrow.Date32Type, *arrow.Date64Type:
		return "DATE"
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return "DATETIME"
		}
	case *arrow.BinaryType:
		if !isWKB(f) { // a further geometry is WKT
			return "BLOB"
		}
	}
	return "TEXT"
}

// describe writes the table's row of gpkg_contents, the type of its geometries and the extension of
// the index.
func (w *geoPackage) describe() error {
	name, kind, extent, id := quoteText(w.name), "attributes", "NULL,NULL,NULL,NULL", "NULL"
	if w.shape >= 0 {
		kind, id = "features", strconv.Itoa(w.srs.id)
		if b := w.facts.box; w.facts.bound > 0 && isFinite(b[0]+b[1]) && isFinite(b[2]+b[3]) {
			extent = fmt.Sprintf("%.17g,%.17g,%.17g,%.17g", b[0], b[1], b[2], b[3])
		}
	}
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	sql := w.srs.insert() + fmt.Sprintf("INSERT INTO gpkg_contents VALUES (%s,'%s',%s,'','%s',%s,%s);\n",
		name, kind, name, now, extent, id)
	if w.shape < 0 {
		return w.db.Exec(sql)
	}
	column := quoteText(w.schema.Field(w.shape).Name)
	sql += fmt.Sprintf("INSERT INTO gpkg_geometry_columns VALUES (%s,%s,'%s',%s,%d,%d);\n",
		name, column, w.facts.geoPackageKind(), id, w.facts.has(geoarrow.HasZ), w.facts.has(geoarrow.HasM))
	sql += fmt.Sprintf("INSERT INTO gpkg_extensions VALUES (%s,%s,'gpkg_rtree_index',"+
		"'http://www.geopackage.org/spec120/#extension_rtree','write-only');\n", name, column)
	return w.db.Exec(sql)
}

// geoPackageKind returns the type of all geometries, and GEOMETRY if they differ.
func (f *geometryFacts) geoPackageKind() string {
	one := geoarrow.NoKind
	for k, seen := range f.kinds {
		switch kind := geoarrow.RowKind(k).Kind(); {
		case !seen || kind == one:
		case one == geoarrow.NoKind:
			one = kind
		default:
			return "GEOMETRY"
		}
	}
	if one == geoarrow.NoKind {
		return "GEOMETRY"
	}
	return strings.ToUpper(one.String())
}

// has tells whether geometries have Z or M: 0 if none has it, 1 if all have it, and 2 if some do.
func (f *geometryFacts) has(ordinate geoarrow.Dim) int {
	with, without := 0, 0
	for k, seen := range f.kinds {
		switch {
		case !seen:
		case geoarrow.RowKind(k).Dim()&ordinate != 0:
			with = 1
		default:
			without = 1
		}
	}
	if with == 1 && f.geoPackageKind() == "GEOMETRY" { // GDAL calls it "3D unknown" otherwise, which pyogrio refuses
		return 2
	}
	return with + with*without
}

// geoPackageSRS is a row of gpkg_spatial_ref_sys.
type geoPackageSRS struct {
	id             int
	name           string
	organization   string
	organizationID int
	definition     string
}

// ownSystem is the first number that no EPSG code has.
const ownSystem = 100_000

// unknownSystem is the row that GDAL has for a table without a system, and reads as none. The
// standard's -1 and 0 are systems to it, with unknown parameters.
var unknownSystem = geoPackageSRS{
	99_999, "Undefined SRS", "GDAL", 99_999,
	`LOCAL_CS["Undefined SRS",LOCAL_DATUM["unknown",32767],UNIT["unknown",0],AXIS["Easting",EAST],` +
		`AXIS["Northing",NORTH]]`,
}

// geoPackageSystem returns the reference system of a geometry column. The positions of a GeoPackage
// have x first, whatever the system says, so that OGC:CRS84 is EPSG:4326.
func geoPackageSystem(schema *arrow.Schema, shape int) geoPackageSRS {
	if shape < 0 {
		return geoPackageSRS{}
	}
	system, definition := crsOf(schema.Field(shape))
	switch {
	case system == (geoarrow.CRS{}):
		return unknownSystem
	case system == geoarrow.CRS84:
		system = geoarrow.CRS{Authority: "EPSG", Code: "4326"}
	}
	known, ok := crs.Lookup(system.Authority, system.Code)
	if !ok {
		text := system.Text
		if text == "" {
			text = string(definition)
		}
		return geoPackageSRS{ownSystem, "the table's", "NONE", ownSystem, text}
	}
	text := known.WKT1()
	if text == "" {
		text = "undefined" // the code says what it is
	}
	code, err := strconv.Atoi(known.Code)
	if err != nil || code <= 0 {
		return geoPackageSRS{ownSystem, known.Name, "NONE", ownSystem, text}
	}
	return geoPackageSRS{code, known.Name, known.Authority, code, text}
}

// insert returns the statement for the system and for EPSG:4326, which every GeoPackage has.
func (s *geoPackageSRS) insert() string {
	world, _ := crs.Lookup("EPSG", "4326")
	rows := geoPackageSRS{4326, world.Name, "EPSG", 4326, world.WKT1()}.values()
	if s.id > 0 && s.id != 4326 {
		rows += ", " + s.values()
	}
	return "INSERT INTO gpkg_spatial_ref_sys VALUES " + rows + ";\n"
}

func (s geoPackageSRS) values() string {
	return fmt.Sprintf("(%s,%d,%s,%d,%s,NULL)", quoteText(s.name), s.id, quoteText(s.organization),
		s.organizationID, quoteText(s.definition))
}
