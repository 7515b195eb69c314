package export

import "strings"

// geoPackageTriggers keep the index of rows when a program changes the table: those of the extension
// gpkg_rtree_index (annex F.3) as of version 1.4. T is the table, K its key, G its geometry and R the
// index, all quoted; P is the start of the triggers' names.
const geoPackageTriggers = `
CREATE TRIGGER "{P}_insert" AFTER INSERT ON {T} WHEN (NEW.{G} NOT NULL AND NOT ST_IsEmpty(NEW.{G})) BEGIN
  INSERT OR REPLACE INTO {R} VALUES (NEW.{K}, {BOX}); END;
CREATE TRIGGER "{P}_update2" AFTER UPDATE OF {G} ON {T} WHEN OLD.{K} = NEW.{K} AND
  (NEW.{G} ISNULL OR ST_IsEmpty(NEW.{G})) BEGIN DELETE FROM {R} WHERE id = OLD.{K}; END;
CREATE TRIGGER "{P}_update4" AFTER UPDATE ON {T} WHEN OLD.{K} != NEW.{K} AND
  (NEW.{G} ISNULL OR ST_IsEmpty(NEW.{G})) BEGIN DELETE FROM {R} WHERE id IN (OLD.{K}, NEW.{K}); END;
CREATE TRIGGER "{P}_update5" AFTER UPDATE ON {T} WHEN OLD.{K} != NEW.{K} AND
  (NEW.{G} NOTNULL AND NOT ST_IsEmpty(NEW.{G})) BEGIN DELETE FROM {R} WHERE id = OLD.{K};
  INSERT OR REPLACE INTO {R} VALUES (NEW.{K}, {BOX}); END;
CREATE TRIGGER "{P}_update6" AFTER UPDATE OF {G} ON {T} WHEN OLD.{K} = NEW.{K} AND
  (NEW.{G} NOTNULL AND NOT ST_IsEmpty(NEW.{G})) AND (OLD.{G} NOTNULL AND NOT ST_IsEmpty(OLD.{G})) BEGIN
  UPDATE {R} SET minx = ST_MinX(NEW.{G}), maxx = ST_MaxX(NEW.{G}), miny = ST_MinY(NEW.{G}),
  maxy = ST_MaxY(NEW.{G}) WHERE id = NEW.{K}; END;
CREATE TRIGGER "{P}_update7" AFTER UPDATE OF {G} ON {T} WHEN OLD.{K} = NEW.{K} AND
  (NEW.{G} NOTNULL AND NOT ST_IsEmpty(NEW.{G})) AND (OLD.{G} ISNULL OR ST_IsEmpty(OLD.{G})) BEGIN
  INSERT INTO {R} VALUES (NEW.{K}, {BOX}); END;
CREATE TRIGGER "{P}_delete" AFTER DELETE ON {T} WHEN OLD.{G} NOT NULL BEGIN
  DELETE FROM {R} WHERE id = OLD.{K}; END;
`

// triggers returns the statements for the triggers of the index; "" without a geometry.
func (l *layer) triggers() string {
	if l.shape < 0 {
		return ""
	}
	geometry, index := quoteName(l.schema.Field(l.shape).Name), l.rtree()
	box := "ST_MinX(NEW.{G}), ST_MaxX(NEW.{G}), ST_MinY(NEW.{G}), ST_MaxY(NEW.{G})"
	names := []string{
		"{T}", quoteName(l.name), "{K}", quoteName(l.key), "{G}", geometry, "{R}", index,
		"{P}", index[1 : len(index)-1],
	}
	return strings.NewReplacer(names...).Replace(strings.ReplaceAll(geoPackageTriggers, "{BOX}", box))
}
