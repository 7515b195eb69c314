package dataset

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/union"
)

// View is a version of a dataset: its schema, and which rows are in which unit. It holds no rows,
// and is immutable.
type View struct {
	Entry   tree.Entry
	Version string
	Parsed  bool // members were parsed for it
	Info    Info

	set     *set
	shape   readers.Shape
	table   *readers.Table // without rows
	folders *folderColumns
	units   []*loadedUnit // those with rows
	batch   []int         // unit of each batch
	columns []int64       // bytes of each column, the geometry being the last one
	batches []int64       // bytes of each batch
	views   scan.Views
}

// Info describes the members of a view.
type Info struct {
	Files   int    `json:"files"`             // members, without those that are left out
	Skipped int    `json:"skipped,omitempty"` // members that are left out
	First   []Skip `json:"first,omitempty"`   // the first of those
}

// loadedUnit is a unit with its record, and its place in a view.
type loadedUnit struct {
	*unit
	record     *record
	firstRow   int64
	firstBatch int
	fitter     *union.Fitter
	text       []geoarrow.ColumnID // columns that must be read as text
}

func newView(d *set, e tree.Entry, p *planner, folders *folderColumns, parsed bool) *View {
	v := &View{Entry: e, Parsed: parsed, set: d, shape: p.union.Shape(), folders: folders}
	v.Info = Info{Files: e.MemberCount() - p.skipped, Skipped: p.skipped, First: p.skips}
	v.shape.Starts = []int64{0}
	t := &readers.Table{Summary: readers.Summary{Foreign: map[string]int64{}}}
	types := map[string]bool{}
	engines := map[string]bool{}
	for _, u := range p.units {
		v.add(u, t, types)
		if u.record.rows() > 0 {
			engines[u.record.Outline.Engine] = true
		}
	}
	if len(v.shape.Starts) == 1 {
		v.shape.Starts = []int64{0, 0}
		v.batch, v.batches, t.Boxes = []int{-1}, []int64{0}, []readers.Box{scan.NoBox}
	}
	v.table = v.shape.Table()
	v.table.Format, v.table.Engine, v.table.ParseTime = tree.DatasetFormat, engineOf(engines), t.ParseTime
	v.table.Summary, v.table.Boxes, v.table.BBox, v.table.Positions = t.Summary, t.Boxes, t.BBox, t.Positions
	v.table.RoundedIntegers, v.table.ReplacedCharacters = t.RoundedIntegers, t.ReplacedCharacters
	for name := range types {
		v.table.GeometryTypes = append(v.table.GeometryTypes, name)
	}
	slices.Sort(v.table.GeometryTypes)
	v.measureColumns()
	v.measureFolders()
	for _, n := range v.batches {
		v.table.Bytes += n
	}
	return v
}

// add adds a unit to the view, and what is known of it to t.
func (v *View) add(u *loadedUnit, t *readers.Table, types map[string]bool) {
	r := u.record
	o := &r.Outline
	t.ParseTime += o.ParseTime
	t.Summary.Add(&o.Summary)
	if r.rows() == 0 {
		return
	}
	t.RoundedIntegers += o.Rounded
	t.ReplacedCharacters += o.Replaced
	t.Positions += r.Positions
	for _, name := range o.GeometryTypes {
		types[name] = true
	}
	u.firstRow, u.firstBatch = v.shape.Starts[len(v.shape.Starts)-1], len(v.batch)
	u.fitter = union.NewFitter(&v.shape, r.Shape.IDs)
	u.text = textColumns(&v.shape, &r.Shape)
	for i, bytes := range o.Batches {
		v.shape.Starts = append(v.shape.Starts, u.firstRow+r.Shape.Starts[i+1])
		v.batch = append(v.batch, len(v.units))
		v.batches = append(v.batches, bytes)
		t.Boxes = append(t.Boxes, persist.BoxAt(r.Boxes, i))
	}
	if len(r.BBox) > 0 {
		box := persist.BoxAt(r.BBox, 0)
		if t.BBox == nil {
			t.BBox = &box
		} else {
			t.BBox = &readers.Box{
				min(t.BBox[0], box[0]), min(t.BBox[1], box[1]), max(t.BBox[2], box[2]), max(t.BBox[3], box[3]),
			}
		}
	}
	v.units = append(v.units, u)
}

func engineOf(engines map[string]bool) string {
	if len(engines) == 1 {
		for name := range engines {
			return name
		}
	}
	return readers.EngineCPU
}

// textColumns returns the columns of a unit whose values are not text, where those of the view are.
func textColumns(to, from *readers.Shape) (text []geoarrow.ColumnID) {
	types := make(map[geoarrow.ColumnID]geoarrow.Facts, len(to.IDs))
	for i, id := range to.IDs {
		types[id] = to.Facts[i]
	}
	for i, id := range from.IDs {
		if facts, ok := types[id]; ok && union.NeedsText(id, from.Facts[i], facts) {
			text = append(text, id)
		}
	}
	return text
}

// measureColumns adds up the bytes of the columns that members have.
func (v *View) measureColumns() {
	at := make(map[geoarrow.ColumnID]int, len(v.shape.IDs))
	for i, id := range v.shape.IDs {
		at[id] = i
	}
	v.columns = make([]int64, len(v.shape.IDs), len(v.shape.IDs)+1)
	if v.shape.Shapes {
		v.columns = append(v.columns, 0)
	}
	for _, u := range v.units {
		r := u.record
		for i, id := range r.Shape.IDs {
			if k, ok := at[id]; ok {
				v.columns[k] += r.Outline.Columns[i]
			}
		}
		if r.Shape.Shapes && v.shape.Shapes {
			v.columns[len(v.columns)-1] += r.Outline.Columns[len(r.Shape.IDs)]
		}
	}
}

// measureFolders adds the bytes of the columns of folders to those of columns and batches.
func (v *View) measureFolders() {
	f, starts := v.folders, v.shape.Starts
	for i := range f.len() {
		k := slices.Index(v.shape.IDs, f.id(i))
		if k < 0 {
			continue
		}
		for b, n := range v.batch {
			if n < 0 {
				continue
			}
			bytes := int64(0)
			for _, r := range v.units[n].runs(starts[b]-v.units[n].firstRow, int(starts[b+1]-starts[b])) {
				bytes += f.bytes(i, r)
			}
			v.columns[k] += bytes
			v.batches[b] += bytes
		}
	}
}

// Table returns the table without its rows.
func (v *View) Table() *readers.Table { return v.table }

// ranges returns the rows whose folders have the values.
func (v *View) ranges(values map[string]any) (all [][2]int64, err error) {
	wanted := map[int]wantedValue{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		k := slices.Index(v.folders.keys, name)
		if k < 0 {
			return nil, &scan.PartitionError{Column: name, What: fmt.Sprintf("is not one of the columns of folders, %q",
				v.folders.keys)}
		}
		if wanted[k], err = v.folders.wanted(k, values[name]); err != nil {
			return nil, err
		}
	}
	for _, u := range v.units {
		row := u.firstRow
		for i := range u.record.Members {
			next := row + u.record.Members[i].Rows
			switch last := len(all) - 1; {
			case row == next || !v.folders.has(&u.members[i], wanted):
			case last >= 0 && all[last][1] == row:
				all[last][1] = next
			default:
				all = append(all, [2]int64{row, next})
			}
			row = next
		}
	}
	return all, nil
}

// Ref returns a use of the table. Its rows are loaded as a scan asks for them. shared keeps all
// units that were loaded until Release, for callers on several goroutines.
func (v *View) Ref(shared bool) *tables.Ref {
	s := newReader(v, shared)
	return tables.NewSourceRef(v.Entry, v.Version, !v.Parsed, s, func(sel scan.Selection) (*scan.Scan, error) {
		out, err := v.views.Scan(s, sel)
		if err == nil {
			s.Want(out.Batches(), sel.Limit == nil)
		}
		return out, err
	})
}

// ViewOf returns the view of a table; nil if it is not that of a dataset.
func ViewOf(h *tables.Ref) *View {
	if r, ok := h.Source().(*reader); ok {
		return r.view
	}
	return nil
}

// InfoOf describes the members of a table; nil if it is not that of a dataset.
func InfoOf(h *tables.Ref) *Info {
	if r, ok := h.Source().(*reader); ok {
		return &r.view.Info
	}
	return nil
}
