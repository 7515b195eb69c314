package geojson

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

// dictionary has the names by which members are looked up. A name has one spelling in JSON text
// without escapes, and any number with escapes. Names of properties are columns, too.
type dictionary struct {
	names   []string         // by number; the first are structuralNames
	number  map[string]int32 // of a name
	column  []int32          // of a name's number, or -1
	columns []string         // names
	spelled []string         // as the text has them
	means   []int32          // the number of the name of each spelling
	known   map[string]bool  // spelled
}

// newDictionary returns a dictionary of the names of properties and of foreign members.
func newDictionary(properties, foreign []string) *dictionary {
	t := &dictionary{number: map[string]int32{}, known: map[string]bool{}}
	for _, name := range structuralNames {
		t.add(name, false)
	}
	for _, name := range properties {
		t.add(name, true)
	}
	for _, name := range foreign {
		t.add(name, false)
	}
	return t
}

// add assigns a number and a spelling without escapes to a name that has none, and a column if
// requested.
func (t *dictionary) add(name string, column bool) int32 {
	n, ok := t.number[name]
	if !ok {
		n = int32(len(t.names))
		t.number[name] = n
		t.names, t.column = append(t.names, name), append(t.column, -1)
		if strings.IndexByte(name, '\\') < 0 { // otherwise the same bytes are another name
			t.spell(name, n)
		}
	}
	if column && t.column[n] < 0 {
		t.column[n] = int32(len(t.columns))
		t.columns = append(t.columns, name)
	}
	return n
}

// spell adds a spelling of a name.
func (t *dictionary) spell(spelled string, n int32) {
	if !t.known[spelled] && len(spelled) <= kjson.LongestFieldName {
		t.known[spelled] = true
		t.spelled, t.means = append(t.spelled, spelled), append(t.means, n)
	}
}

// learn adds a name as it is spelled in the text.
func (t *dictionary) learn(spelled []byte, column bool) {
	name, _ := jsonrows.Unescape(nil, spelled)
	t.spell(string(spelled), t.add(string(name), column))
}

// widen makes a column for every name, and reports whether one had none.
func (t *dictionary) widen() bool {
	before := len(t.columns)
	for _, name := range t.names {
		t.add(name, true)
	}
	return len(t.columns) > before
}

// deviceDictionary is a dictionary on the device. It stays there from chunk to chunk: small copies
// to the device wait for large copies of text, and most chunks have the names of the previous one.
type deviceDictionary struct {
	dictionary
	fields *kjson.Fields
	column gpu.Buffer[int32] // dictionary.column
}

// upload copies a dictionary that is not on the device yet.
func (u *deviceDictionary) upload(s *gpu.Stream, t *dictionary) error {
	if u.fields != nil && slices.Equal(u.spelled, t.spelled) && slices.Equal(u.means, t.means) &&
		slices.Equal(u.dictionary.column, t.column) {
		return nil
	}
	defer s.Use(s.Use(nil)) // it outlives the chunk
	if err := u.Free(s); err != nil {
		return err
	}
	fields, err := kjson.AllocSpellings(s, t.spelled, t.means)
	if err != nil {
		return err
	}
	u.fields = fields
	u.spelled, u.means, u.dictionary.column = slices.Clone(t.spelled), slices.Clone(t.means), slices.Clone(t.column)
	if u.column, err = gpu.Of(s, t.column); err != nil {
		return errors.Join(err, u.Free(s)) // it is incomplete
	}
	return nil
}

// Free gives its memory back once the work that s was given before is done.
func (u *deviceDictionary) Free(s *gpu.Stream) error {
	if u.fields == nil {
		return nil
	}
	err := errors.Join(u.fields.Free(s), u.column.Free(s))
	*u = deviceDictionary{}
	return err
}

// Limits of what is learned from one chunk. Names that were chosen to share a bucket in every round
// are left to the CPU engine.
const (
	maxNewNames = 256 // in addition to those of earlier chunks
	newNames    = 256 // per round and level: a power of two
	maxRounds   = 8
)

// level is a level of nesting whose members have a meaning.
type level struct {
	want  int32
	known uint64 // a bit for each structural name that is not a foreign member there
}

func nameBits(fields ...int) (b uint64) {
	for _, f := range fields {
		b |= 1 << f
	}
	return b
}

// The masks of featureMember and geometryMember.
var (
	ofFeature  = level{-1, nameBits(fieldType, fieldGeometry, fieldProperties, fieldID, fieldBBox)}
	ofGeometry = level{fieldGeometry, nameBits(fieldType, fieldCoordinates, fieldGeometries, fieldBBox)}
	// Values of these are checked where they are read.
	readElsewhere = nameBits(fieldType, fieldGeometry, fieldProperties, fieldID, fieldCoordinates, fieldGeometries)
)

// features finds the members, checks that every record is a Feature with geometry and properties,
// and returns the members of features.
//
// One wait is enough if earlier rows had all names, and no feature or geometry has foreign members.
// Otherwise a second wait follows. New names are learned, and all members are matched again.
func (d *deviceRows) features() *placedMembers {
	records, bad := device.Result(d.Work, d.records.Found), device.Result(d.Work, d.badString)
	first := len(d.dict.names)
	for round := uint64(0); ; round++ {
		missed := d.missed(round > 0)
		levels, odd := d.placeLevels()
		d.Await()
		if d.Stopped() {
			return nil
		}
		d.Accept(records[0].Fault < 0, "features that are not as JSON has them, or not known")
		d.Accept(stringsSound(bad), "a string that is not as JSON has it")
		named := true
		for i, p := range levels {
			p.odd = odd[i]
			d.Accept(p.odd.Repeated < 0, repeatedName)
			named = named && p.odd.Unknown < 0
		}
		if !named && (missed[0] != math.MaxUint32 && d.learn(round) || !d.Stopped() && levels[2].odd.Unknown >= 0 &&
			d.dict.widen()) {
			d.Accept(len(d.dict.names)-first <= maxNewNames, "many new names")
			d.Accept(round < maxRounds, "new names that hide")
			continue
		}
		if d.Stopped() {
			return nil
		}
		d.shapes, d.values = levels[1], levels[2]
		d.checkFeatures(levels[0])
		d.countForeign(levels[0])
		return levels[0]
	}
}

// maxSlots returns how many places for members a chunk may have, each 4 bytes: a table of many
// sparse columns is mostly empty.
func (d *deviceRows) maxSlots() int { return max(d.dev.Len()/2, 1<<16) }

// placeLevels puts the members of features, geometries and properties in columns. Its reports are
// valid after the next await.
func (d *deviceRows) placeLevels() (levels [3]*placedMembers, odd []kjson.PlaceReport) {
	fields := [3]int{len(structuralNames), len(structuralNames), len(d.dict.columns)}
	all, rows := fields[0]+fields[1]+fields[2], d.records.Count
	d.Accept(all <= d.maxSlots()/max(1, rows), "more columns than rows have text for")
	columns := d.names.column
	slots, report, odds := device.Alloc[int32](d.Work, all*rows), device.Alloc[kjson.FieldReport](d.Work, all),
		device.Alloc[kjson.PlaceReport](d.Work, len(levels))
	if d.Stopped() {
		return levels, nil
	}
	d.Try(kjson.PlaceLevels(d.K, d.S, kjson.LevelPlan{
		Row: d.records.Row, Owner: d.records.Owner, Field: d.records.Field, Kind: d.records.Kind,
		Wants:   [2]int32{fieldGeometry, fieldProperties},
		Columns: columns, Rows: rows, Fields: fields, Slots: slots, Report: report, Odd: odds,
	}))
	reports, from := device.Result(d.Work, report), 0
	if d.Stopped() {
		return levels, nil
	}
	for i, n := range fields {
		levels[i] = &placedMembers{
			slots: slots.Slice(from*rows, (from+n)*rows), report: reports[from : from+n],
			rows: rows,
		}
		from += n
	}
	return levels, device.Result(d.Work, odds)
}

// upload copies the dictionary to the device. If that fails, the chunk is refused.
func (d *deviceRows) upload() {
	if d.Stopped() {
		return
	}
	err := d.names.upload(d.S, d.dict)
	if errors.Is(err, kjson.ErrFieldNames) {
		d.Accept(false, err.Error())
	}
	d.Try(err)
}

// missed receives, after the next await, the first member whose key is not in the dictionary.
// again: the dictionary has changed since the records were listed.
func (d *deviceRows) missed(again bool) []uint32 {
	if again {
		d.upload()
		d.listKeys()
		if d.Stopped() {
			return nil
		}
		d.Try(kjson.MatchAllKeys(d.K, d.S, d.dev, d.records.KeyStart, d.records.KeyEnd, d.names.fields,
			d.records.Field, d.records.Missed))
	}
	if d.Stopped() {
		return nil
	}
	return device.Result(d.Work, d.records.Missed)
}

// listKeys lists the text of the keys, unless it is listed.
func (d *deviceRows) listKeys() {
	if !d.Stopped() && d.records.KeyStart.Len() == 0 {
		d.Try(kjson.ListKeys(d.K, d.S, d.dev, d.x, d.records))
	}
}

// checkTypes checks the types of features without a geometry. It waits for the device.
func (d *deviceRows) checkTypes(top *placedMembers) {
	found := device.Alloc[uint32](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(kjson.GeoJSONTypesFound(d.K, d.S, d.dev, top.of(fieldType), d.records.ValueStart, d.records.Kind, found))
	if named := ask(d, found); !d.Stopped() {
		d.acceptTypes(named[0])
	}
}

// acceptTypes refuses the chunk unless all types of records in GeoJSONTypesFound are Feature.
func (d *deviceRows) acceptTypes(named uint32) {
	d.Accept(named == 1<<kgeom.KindFeature, "a Feature without a type, or with another one")
}

// checkFeatures checks what every record must have, except its type, which is checked with its
// geometry's.
func (d *deviceRows) checkFeatures(top *placedMembers) {
	object, null := kindBit(kjson.ValueObject), kindBit(kjson.ValueNull)
	d.Accept(top.kinds(fieldType) == kindBit(kjson.ValueString), "a Feature without a type")
	d.Accept(top.kinds(fieldGeometry)&^(object|null) == 0, "a geometry that is no object")
	d.Accept(top.kinds(fieldProperties)&^(object|null) == 0, "properties that are no object")
}

// learn adds the names that the dictionary lacks, and reports whether there were any. It waits for
// the device twice: for their places and for their text.
func (d *deviceRows) learn(seed uint64) bool {
	wants := [...]int32{-1, fieldGeometry, fieldProperties}
	var found [len(wants)][]kjson.KeySpan
	d.listKeys()
	for i, want := range wants {
		spans := device.Alloc[kjson.KeySpan](d.Work, newNames)
		if d.Stopped() {
			return false
		}
		d.Try(kjson.UnknownKeys(d.K, d.S, d.dev, d.records.KeyStart, d.records.KeyEnd, d.level(want), seed, spans))
		found[i] = device.Result(d.Work, spans)
	}
	if d.Await(); d.Stopped() {
		return false
	}
	var spelled [len(wants)][][]byte
	some := false
	for i := range found {
		for _, s := range found[i] {
			if s.Start >= 0 {
				spelled[i] = append(spelled[i], device.Result(d.Work, d.dev.Slice(int(s.Start), int(s.End))))
				some = true
			}
		}
	}
	if !some { // the missing names are those of members of other levels
		return false
	}
	if d.Await(); d.Stopped() {
		return false
	}
	before := len(d.dict.spelled)
	for i, keys := range spelled {
		for _, key := range keys {
			d.dict.learn(key, wants[i] == fieldProperties)
		}
	}
	return len(d.dict.spelled) > before
}

func (d *deviceRows) level(want int32) kjson.MemberLevel {
	return kjson.MemberLevel{Owner: d.records.Owner, Field: d.records.Field, Want: want}
}

// countForeign counts the foreign members of features and geometries by their names, and checks
// their values. Then it removes them from the members.
func (d *deviceRows) countForeign(top *placedMembers) {
	d.foreign = map[string]int64{}
	type counted struct {
		level
		counts []int64
		fault  []int64
	}
	var levels []counted
	for _, l := range []struct {
		level
		*placedMembers
	}{{ofFeature, top}, {ofGeometry, d.shapes}} {
		idle := l.odd.Unknown < 0 && l.kinds(fieldBBox) == 0
		for f := range structuralNames {
			if l.known>>f&1 == 0 {
				idle = idle && l.kinds(f) == 0
				l.report[f] = kjson.FieldReport{First: math.MaxInt32}
			}
		}
		l.odd.Unknown = -1
		if !idle {
			counts, fault := d.queueForeign(l.level)
			levels = append(levels, counted{l.level, counts, fault})
		}
	}
	if len(levels) == 0 {
		return
	}
	d.Await()
	for _, l := range levels {
		if d.Stopped() {
			return
		}
		d.Accept(l.fault[0] < 0, "an ignored value that is not JSON, or too deep")
		for f, n := range l.counts {
			if n > 0 && (f >= len(structuralNames) || l.known>>f&1 == 0) {
				d.foreign[d.dict.names[f]] += n
				d.Accept(l.want >= 0 || d.sep != kjson.RecordsLine || d.dict.names[f] != "crs",
					"a Feature with a crs")
			}
		}
	}
}

// queueForeign queues the count of a level's foreign members and the check of their values,
// complete after the next await.
func (d *deviceRows) queueForeign(l level) (counts, fault []int64) {
	count, at := device.Alloc[int64](d.Work, len(d.dict.names)), device.Alloc[int64](d.Work, 1)
	nested := device.Alloc[uint64](d.Work, kernels.Words(d.records.Members))
	within := device.Alloc[uint64](d.Work, kernels.Words(d.dev.Len()))
	if d.Stopped() {
		return nil, nil
	}
	d.Try(kjson.CountMembers(d.K, d.S, d.level(l.want), d.records.Kind, readElsewhere&l.known, count, nested))
	d.Try(ktext.MarkSomeSpans(d.K, d.S, d.records.ValueStart, d.records.ValueEnd, nested, d.dev.Len(), within))
	d.Try(kjson.CheckValues(d.K, d.S, d.dev, d.x, within, d.deep, kernels.Mask{}, at))
	return device.Result(d.Work, count), device.Result(d.Work, at)
}

// properties returns the members of properties in columns, and the name of each column.
func (d *deviceRows) properties() (names []string, p *placedMembers) {
	if d.Stopped() {
		return nil, nil
	}
	return d.dict.columns, d.values
}
