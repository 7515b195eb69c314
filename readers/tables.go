package readers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Member is one of several tables in an archive.
type Member struct {
	Layer  string // unique in the archive
	Name   string // path in the archive
	Format Format
}

// maxTables bounds the layers of an archive: later members of its directory are not layers.
const maxTables = 1 << 14

// tables returns the members of an archive that are of a known format and not siblings of others,
// in the order of its directory. Layers have the same order. A layer is named by its file's stem if
// that is unique, else by its path in the archive:
//
//	gis_osm_roads_free_1.shp    gis_osm_roads_free_1
//	north/roads.shp             north/roads.shp
//	south/roads.shp             south/roads.shp
func (r Registry) tables(members []string) []Member {
	there := make(map[string]bool, len(members))
	for _, name := range members {
		there[name] = true
	}
	var found []Member
	stems := map[string]int{}
	taken := map[string]bool{} // paths
	for _, name := range members {
		f, ok := r.ofMember(name)
		if !ok || taken[name] || slices.ContainsFunc(r.MainsOf(name), func(main string) bool { return there[main] }) {
			continue
		}
		if len(found) == maxTables {
			break
		}
		taken[name] = true
		m := Member{Name: name, Format: f}
		stems[m.stem()]++
		found = append(found, m)
	}
	used := make(map[string]bool, len(found))
	for i := range found {
		m := &found[i]
		m.Layer = m.stem()
		if stems[m.Layer] > 1 || taken[m.Layer] {
			m.Layer = m.Name
		}
		m.Layer = strings.ToValidUTF8(m.Layer, "\uFFFD")
		if used[m.Layer] { // names that differ only in invalid UTF-8
			m.Layer = fmt.Sprintf("%s (%d)", m.Layer, i+1)
		}
		used[m.Layer] = true
	}
	return found
}

// ofMember returns the format of a member of an archive by its name. The main file of a bundle is
// of the bundle's format.
func (r Registry) ofMember(name string) (Format, bool) {
	for _, f := range r {
		if f.Bundle.Main != "" && path.Base(name) == f.Bundle.Main {
			return f, true
		}
	}
	return r.ByExtension(name)
}

// isBundle reports whether the member is the main file of a bundle.
func (m *Member) isBundle() bool {
	return m.Format.Bundle.Main != "" && path.Base(m.Name) == m.Format.Bundle.Main
}

// stem returns the name of the layer if no other member has it.
func (m *Member) stem() string {
	if dir := path.Dir(m.Name); m.isBundle() && dir != "." {
		return stemOf(dir)
	}
	return stemOf(m.Name)
}

// stemOf returns the last component of a path, without its extension.
func stemOf(name string) string {
	return source.Stem(name[strings.LastIndexByte(name, '/')+1:])
}

// Layers returns the layers of an archive of several tables, and nil for one table, which may have
// layers of its own.
func layersOf(tables []Member) []string {
	if len(tables) < 2 {
		return nil
	}
	layers := make([]string, len(tables))
	for i := range tables {
		layers[i] = tables[i].Layer
	}
	return layers
}

// LayerIn returns the layer that a parser of src is to read, given the layer of the whole file: ""
// if src is itself a layer of an archive.
func LayerIn(src *source.File, layer string) string {
	if src.Layers != nil {
		return ""
	}
	return layer
}

// layersFrom sets the layers of a table whose file is an archive of several.
func (s *Summary) layersFrom(src *source.File) {
	if src.Layers != nil {
		s.Layers = src.Layers
	}
}
