package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	// largeMember is the size from which on a member is a unit of its own.
	largeMember = 1 << 20
	// unpackedRatio is how much larger a packed file is expected to be when it is unpacked.
	unpackedRatio = 8
	// packBytes and packMembers bound a pack.
	packBytes   = 8 << 20
	packMembers = 4096
	// A pack also ends after a member whose name has a hash that packEnd divides, so that an added
	// member changes one pack and not all that follow it. minPack is the size where that begins.
	packEnd = 64
	minPack = 2 << 20
)

// digest identifies a unit: the names and identities of its members, and how they are read.
type digest = [sha256.Size]byte

// member is a file of a dataset.
type member struct {
	entry      *tree.Entry
	label      string // its path as the pattern writes it
	partitions []partition
	how        *choice
}

// choice is how a member is read: members with the same options share it.
type choice struct {
	format  readers.Format
	options readers.Options
	key     [32]byte // of both
}

// memberKey identifies the rows of a member.
type memberKey struct {
	name     string
	identity source.Identity
	how      [32]byte
}

func (m *member) key() memberKey { return memberKey{m.entry.Name, m.entry.Identity, m.how.key} }

// unit is the members that are loaded together.
type unit struct {
	digest  digest
	members []member
	bytes   int64 // of their files
	pack    bool
}

// members returns the members of an entry, with the options that a client gives.
func (d *set) members(e tree.Entry, given map[string]any) ([]member, error) {
	files := slices.AppendSeq(make([]tree.Entry, 0, e.MemberCount()), e.Members())
	all := make([]member, len(files))
	for i := range files {
		f := &files[i]
		label, ok := labelOf(d.globs, f)
		if !ok {
			label = f.Name
		}
		how, err := d.choose(f, given)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all[i] = member{entry: f, label: label, how: how, partitions: partitionsOf(label)}
	}
	return all, nil
}

// choose returns how a file is read. The options of the dataset have precedence over those for
// files, and a client's over both.
func (d *set) choose(e *tree.Entry, given map[string]any) (*choice, error) {
	all := map[string]any{}
	if d.Config.Options != nil {
		maps.Copy(all, d.Config.Options(e.Name))
	}
	maps.Copy(all, d.Spec.Options)
	maps.Copy(all, given)
	key := optionsKey(e.Format, all)
	d.mu.Lock()
	how := d.choices[key]
	d.mu.Unlock()
	if how != nil {
		return how, nil
	}
	j, err := job.New(d.Formats, nil, *e, all)
	if err != nil {
		return nil, err
	}
	options := j.Options.Digest()
	how = &choice{format: j.Format, options: j.Options}
	how.key = sha256.Sum256(fmt.Appendf(nil, "%s %d %x", j.Format.Name, j.Format.Version, options))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.choices) >= maxChoices { // clients may give any options
		clear(d.choices)
	}
	d.choices[key] = how
	return how, nil
}

// maxChoices bounds the choices that are kept.
const maxChoices = 256

func optionsKey(format string, options map[string]any) string {
	var b strings.Builder
	b.WriteString(format)
	for _, name := range slices.Sorted(maps.Keys(options)) {
		fmt.Fprintf(&b, " %q=%T%q", name, options[name], fmt.Sprint(options[name]))
	}
	return b.String()
}

// job returns the job for the table of a member alone.
func (m *member) job() job.Job {
	e := *m.entry
	e.Format = m.how.format.Name
	return job.Of(e, m.how.format, m.how.options)
}

// cut divides the members into units.
func (d *set) cut(members []member) (units []*unit) {
	from, bytes := 0, int64(0)
	flush := func(to int) {
		if to > from {
			units = append(units, d.newUnit(members[from:to], true))
		}
		from, bytes = to, 0
	}
	for i := range members {
		size := members[i].unpackedSize()
		if size >= largeMember {
			flush(i)
			units = append(units, d.newUnit(members[i:i+1], false))
			from = i + 1
			continue
		}
		bytes += size
		if bytes >= packBytes || i+1-from >= packMembers || bytes >= minPack && endsPack(members[i].entry.Name) {
			flush(i + 1)
		}
	}
	flush(len(members))
	return units
}

// unpackedSize returns the size of the member's file, an estimate if the file is packed.
func (m *member) unpackedSize() int64 {
	if packing, _ := source.PackingOf(m.entry.Path); packing != source.Plain {
		return m.entry.Size * unpackedRatio
	}
	return m.entry.Size
}

func endsPack(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash never fails
	return h.Sum32()%packEnd == 0
}

func (d *set) newUnit(members []member, pack bool) *unit {
	u := &unit{members: members, pack: pack}
	h := sha256.New()
	l := &d.Limits
	h.Write(fmt.Appendln(nil, "vibeflight dataset unit 1", l.BatchRows, l.MaxDepth, l.MaxColumns, l.MaxFeatureBytes,
		d.MaxFileBytes))
	var b []byte
	for i := range members {
		m := &members[i]
		at := m.entry.Location()
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(at)))
		b = append(append(b, at...), m.how.key[:]...)
		b = m.entry.Identity.Append(b)
		h.Write(b)
		u.bytes += m.entry.Size
	}
	h.Sum(u.digest[:0])
	return u
}
