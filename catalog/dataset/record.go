package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// recordVersion is raised when the records of units change their meaning.
const recordVersion = 1

// record is what is known of a unit.
type record struct {
	Members   []memberRecord  `json:"members"`
	Columns   []columnsRecord `json:"columns"` // different ones of its members
	Shape     readers.Shape   `json:"shape"`   // of its table
	Outline   persist.Outline `json:"outline"`
	Boxes     []byte          `json:"boxes,omitempty"` // of batches: four float64 each, little-endian
	BBox      []byte          `json:"bbox,omitempty"`  // of the table: four float64
	Positions int64           `json:"positions"`

	Invalid bool `json:"invalid,omitempty"` // x or y of a position is NaN

	Cover bool `json:"cover,omitempty"` // the file says so itself: it was not parsed

	// Texts are the sets of columns that views read as text. For each, the cache may have a table.
	Texts [][]geoarrow.ColumnID `json:"texts,omitempty"`

	pack bool
}

// coverRecord returns the record of a member that describes its table itself.
func coverRecord(m *member, k *persist.Meta) *record {
	r := &record{Members: []memberRecord{newMemberRecord(m)}, Shape: k.Shape, Outline: *k.Outline, Cover: true}
	columns := columnsRecord{Shape: k.Shape, Typed: true}
	columns.Shape.Starts, columns.Shape.BatchRows = nil, 0
	r.Columns = []columnsRecord{columns}
	r.Members[0].Rows = r.rows()
	r.Boxes = k.Boxes
	if k.BBox != nil {
		r.BBox = persist.AppendBox(nil, *k.BBox)
	}
	r.Invalid = true // not known
	return r
}

// forget drops the record of a unit whose file does not have the rows that it describes itself.
func (d *set) forget(u *loadedUnit) {
	d.Loader.Distrust(u.members[0].job())
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, u.digest)
	delete(d.stored, u.digest)
	d.views, d.recent = map[viewKey]*View{}, nil
}

// memberRecord is what is known of a member. Its rows follow those of the members before it.
type memberRecord struct {
	Name     string          `json:"n"`
	Identity source.Identity `json:"i"`
	How      string          `json:"o,omitempty"` // digest of format and options, in hexadecimal
	Rows     int64           `json:"r,omitempty"`
	Columns  int             `json:"c,omitempty"` // index into record.Columns
	Error    string          `json:"e,omitempty"` // why it has no rows
	Misfit   bool            `json:"m,omitempty"` // its columns do not join those of the others; no rows
	// of the parse, if it counted anything
	Summary *readers.Summary `json:"s,omitempty"`

	err error // that Error is the text of; nil: another process found it
}

// hasRows reports whether the member could be read and joined, even if it is empty.
func (m *memberRecord) hasRows() bool { return m.Error == "" && !m.Misfit }

func newMemberRecord(m *member) memberRecord {
	return memberRecord{
		Name: m.entry.Name, Identity: m.entry.Identity, How: hex.EncodeToString(m.how.key[:]),
	}
}

// setSummary keeps a summary that counted anything.
func (m *memberRecord) setSummary(s *readers.Summary) {
	plain := readers.Summary{CRS: s.CRS, BytesRead: s.BytesRead, Appendable: s.Appendable}
	if s.Foreign != nil && len(s.Foreign) == 0 {
		plain.Foreign = s.Foreign
	}
	if !reflect.DeepEqual(plain, *s) {
		m.Summary = s
	}
}

// summary returns that of the parse.
func (m *memberRecord) summary() readers.Summary {
	if m.Summary == nil {
		return readers.Summary{BytesRead: m.Identity.Size}
	}
	return *m.Summary
}

// columnsRecord is the columns of a member, as they join those of others.
type columnsRecord struct {
	Shape readers.Shape `json:"s"`
	Typed bool          `json:"t,omitempty"` // a geometry is not null
}

// place is where the rows of a member are.
type place struct {
	unit     digest
	from, to int64
	columns  *columnsRecord
	member   *memberRecord
}

// columnsOf returns the columns of a parsed member.
func columnsOf(t *readers.Table, limits readers.Limits) columnsRecord {
	s := t.Shape(limits)
	s.Starts, s.BatchRows = nil, 0
	facts := make([]geoarrow.Facts, len(s.Facts))
	for i, f := range s.Facts {
		facts[i] = f.Rounded()
	}
	s.Facts = facts
	return columnsRecord{Shape: s, Typed: len(t.GeometryTypes) > 0}
}

// columnsSet numbers the different columns of members.
type columnsSet struct {
	all    []columnsRecord
	number map[string]int
}

// add returns the number of columns.
func (s *columnsSet) add(c columnsRecord) int {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts and numbers only
	}
	if i, ok := s.number[string(text)]; ok {
		return i
	}
	if s.number == nil {
		s.number = map[string]int{}
	}
	s.number[string(text)] = len(s.all)
	s.all = append(s.all, c)
	return len(s.all) - 1
}

// describe adds what is known of the unit's table.
func (r *record) describe(t *readers.Table, limits readers.Limits) {
	r.Shape = t.Shape(limits)
	r.Outline = persist.Outline{
		Engine: t.Engine, ParseTime: t.ParseTime, GeometryTypes: t.GeometryTypes, Summary: t.Summary,
		Rounded: t.RoundedIntegers, Replaced: t.ReplacedCharacters,
		Columns: scan.ColumnBytes(t), Batches: scan.BatchBytes(t),
	}
	for _, box := range t.Boxes {
		r.Boxes = persist.AppendBox(r.Boxes, box)
	}
	if t.BBox != nil {
		r.BBox = persist.AppendBox(nil, *t.BBox)
	}
	r.Positions = t.Positions
	for _, b := range t.Batches {
		r.Invalid = r.Invalid || b.Geometry != nil && !b.Geometry.ValidPositions()
	}
}

// fits reports whether a stored record is one of the unit: the store may be damaged.
func (r *record) fits(members int, limits readers.Limits) bool {
	n := len(r.Shape.Starts)
	if len(r.Members) != members || n < 2 || len(r.Outline.Batches) != n-1 || !r.Shape.Fits(limits) ||
		len(r.Boxes) != persist.BoxBytes*(n-1) || len(r.BBox) != 0 && len(r.BBox) != persist.BoxBytes {
		return false
	}
	columns := len(r.Shape.IDs)
	if r.Shape.Shapes {
		columns++
	}
	if len(r.Outline.Columns) != columns {
		return false
	}
	var rows int64
	for _, m := range r.Members {
		if m.hasRows() && (m.Columns < 0 || m.Columns >= len(r.Columns)) || m.Rows < 0 {
			return false
		}
		rows += m.Rows
	}
	return rows == r.Shape.Starts[n-1]
}

// recordID returns the beginning of the keys of a dataset's records: other servers may have a
// dataset of the same name.
func recordID(spec Spec, globs []glob) string {
	h := sha256.New()
	for _, g := range globs {
		place := g.root.Dir
		if g.root.URL != "" {
			place = remote.Address(g.root.URL) + "?" + optionsOf(g.root.URL)
		}
		h.Write(fmt.Appendf(nil, "%q %q %q\n", place, g.below, g.pattern))
	}
	return "dataset:" + spec.Name + "@" + hex.EncodeToString(h.Sum(nil)[:8])
}

func (d *set) recordKey(u digest) store.Key { return store.Key{Name: d.recordID, Options: u} }

// loadRecords reads the records that the store has of the dataset, once.
func (d *set) loadRecords(ctx context.Context) error {
	d.mu.Lock()
	loaded := d.loaded
	d.mu.Unlock()
	s := d.Archive.Store()
	if loaded || s == nil {
		return nil
	}
	type entry struct {
		unit digest
		at   time.Time
		*record
	}
	var all []entry
	err := s.Of(ctx, d.recordID, func(stored store.Record) error {
		if r := d.decode(stored); r != nil {
			all = append(all, entry{stored.Options, stored.ParsedAt, r})
		}
		return nil
	})
	// The rows of a member are in the newest of its packs.
	slices.SortFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	for _, e := range all {
		d.keep(e.unit, e.record, nil)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.Log.Warn().Err(err).Str("name", d.Name).Msg("the records of the dataset can't be read")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range all {
		d.stored[e.unit] = true
	}
	d.loaded = true
	return nil
}

// decode returns the record of a unit, or nil if it can't be used.
func (d *set) decode(stored store.Record) *record {
	r := &record{}
	if stored.FormatVersion != recordVersion || json.Unmarshal(stored.Shape, r) != nil ||
		!r.fits(len(r.Members), d.Limits) {
		return nil
	}
	r.pack = stored.Format == packFormat
	return r
}

// readRecord reads the record of a unit whose table another replica has made. It returns nil if there
// is none.
func (d *set) readRecord(ctx context.Context, u *unit) *record {
	s := d.Archive.Store()
	if s == nil {
		return nil
	}
	stored, ok, err := s.Get(ctx, d.recordKey(u.digest))
	if err != nil || !ok {
		return nil
	}
	r := d.decode(stored)
	if r == nil || len(r.Members) != len(u.members) {
		return nil
	}
	d.keep(u.digest, r, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stored[u.digest] = true
	return r
}

// keep remembers the record of a unit, and where it has the rows of its members. parts has the
// errors of members, if they are known.
func (d *set) keep(u digest, r *record, parts []part) {
	for i := range parts {
		r.Members[i].err = parts[i].err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[u] = r
	var row int64
	for i := range r.Members {
		m := &r.Members[i]
		key := memberKey{name: m.Name, identity: m.Identity}
		if n, err := hex.Decode(key.how[:], []byte(m.How)); err != nil || n != len(key.how) {
			continue
		}
		if m.hasRows() && r.pack {
			d.at[key] = place{u, row, row + m.Rows, &r.Columns[m.Columns], m}
		}
		row += m.Rows
	}
}

// saveRecords stores the records of a view's units that the store lacks, and removes those of units
// that no longer exist. It runs in the background.
func (d *set) saveRecords(units []*loadedUnit, gone []digest) {
	s := d.Archive.Store()
	if s == nil {
		return
	}
	end, ok := d.Cache.Begin()
	if !ok {
		return
	}
	d.wg.Go(func() {
		defer end()
		ctx := context.Background()
		for _, u := range units {
			if err := d.saveRecord(ctx, s, u); err != nil {
				d.Log.Warn().Err(err).Str("name", d.Name).Msg("the records of the dataset can't be stored")
				return
			}
		}
		for _, u := range gone {
			if err := s.Delete(ctx, d.recordKey(u)); err != nil {
				return // it is removed after the next restart
			}
		}
	})
}

func (d *set) saveRecord(ctx context.Context, s store.Store, u *loadedUnit) error {
	d.mu.Lock()
	stored := d.stored[u.digest]
	d.mu.Unlock()
	if stored {
		return nil
	}
	text, err := json.Marshal(u.record)
	if err != nil {
		return err
	}
	format := memberFormat
	if u.pack {
		format = packFormat
	}
	err = s.Put(ctx, store.Record{
		Key: d.recordKey(u.digest), Identity: source.Identity{Size: u.bytes}, Format: format,
		FormatVersion: recordVersion, Rows: u.record.rows(), TableBytes: u.record.tableBytes(), Shape: text,
		ParsedAt: time.Now(),
	})
	if err == nil {
		d.mu.Lock()
		d.stored[u.digest] = d.known[u.digest] == u.record
		d.mu.Unlock()
	}
	return err
}

// The formats of records in the store.
const (
	packFormat   = tree.DatasetFormat + " pack"
	memberFormat = tree.DatasetFormat + " member"
)

// noteTexts adds the columns that a view reads as text to the records of its packs.
func (d *set) noteTexts(units []*loadedUnit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range units {
		has := func(text []geoarrow.ColumnID) bool { return slices.Equal(text, u.text) }
		if !u.pack || len(u.text) == 0 || d.known[u.digest] != u.record || slices.ContainsFunc(u.record.Texts, has) {
			continue
		}
		r := *u.record // it may be being stored
		r.Texts = append(slices.Clone(r.Texts), u.text)
		u.record, d.known[u.digest] = &r, &r
		delete(d.stored, u.digest)
	}
}

// forgetTables removes the tables of a pack from memory, and from the cache by forget.
func (d *set) forgetTables(u digest, r *record, forget func(job.Job) error) error {
	j := d.packJob(&unit{digest: u, pack: true}, nil)
	d.Cache.Evict(j.Key.Name, nil)
	err := forget(j)
	for _, text := range r.Texts {
		err = errors.Join(err, forget(d.packJob(&unit{digest: u, pack: true}, text)))
	}
	return err
}

// prune forgets the records of units that neither a view nor keep has, and their tables. It returns
// those that the store has. The caller holds the turn.
func (d *set) prune(keep map[digest]bool) (stored []digest) {
	d.mu.Lock()
	live := map[digest]bool{}
	maps.Copy(live, keep)
	for _, v := range d.views {
		for _, u := range v.units {
			live[u.digest] = true
		}
	}
	gone := map[digest]*record{}
	for u, r := range d.known {
		if live[u] {
			continue
		}
		if d.stored[u] {
			stored = append(stored, u)
		}
		delete(d.known, u)
		delete(d.stored, u)
		if r.pack {
			gone[u] = r
		}
	}
	for key, at := range d.at {
		if !live[at.unit] {
			delete(d.at, key)
		}
	}
	d.mu.Unlock()
	for u, r := range gone {
		if err := d.forgetTables(u, r, d.Archive.ForgetMade); err != nil {
			d.Log.Debug().Err(err).Str("name", d.Name).Msg("a former table of the dataset is not removed")
		}
	}
	return stored
}

func (r *record) rows() int64 { return r.Shape.Starts[len(r.Shape.Starts)-1] }

func (r *record) tableBytes() (n int64) {
	for _, b := range r.Outline.Batches {
		n += b
	}
	return n
}
