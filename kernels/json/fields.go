package json

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// What a dictionary holds at most.
const (
	MaxFields        = 1 << 16 // names
	LongestFieldName = 1024    // bytes
)

// ErrFieldNames says that names from outside make no dictionary: too many, too long, one twice, or
// chosen to collide. A reader then does without.
var ErrFieldNames = errors.New("no dictionary of field names")

// Fields is a dictionary of names on the device.
type Fields struct {
	n       int
	longest int // bytes; -1 without names
	seed    uint64
	reach   int
	slots   gpu.Buffer[fieldSlot]
	names   gpu.Buffer[uint64]
}

// fieldSlot is FieldSlot of fields.cu.
type fieldSlot struct {
	Hash       uint32
	Field      int32
	At, Length uint32
	First      [2]uint64
}

// fieldTable finds a name by its hash: in one of the reach slots from hash modulo their number on.
type fieldTable struct {
	slots []fieldSlot // a power of two
	seed  uint64
	reach int
}

// AllocFields takes a dictionary of up to MaxFields names to the device; Free gives it back.
// names[i] is field i. No name may come twice, and none may be longer than LongestFieldName: the
// error then wraps ErrFieldNames.
func AllocFields(s *gpu.Stream, names []string) (*Fields, error) {
	numbers := make([]int32, len(names))
	for i := range numbers {
		numbers[i] = int32(i)
	}
	return AllocSpellings(s, names, numbers)
}

// AllocSpellings is AllocFields for names that stand for fields in several spellings: names[i] is
// field numbers[i], which is 0 at least.
func AllocSpellings(s *gpu.Stream, names []string, numbers []int32) (*Fields, error) {
	if len(numbers) != len(names) {
		return nil, fmt.Errorf("kernels: %d numbers for %d names", len(numbers), len(names))
	}
	words, at, longest, err := packNames(names)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFieldNames, err)
	}
	table, err := hashNames(names, at)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFieldNames, err)
	}
	for i := range table.slots {
		if at := &table.slots[i]; at.Field >= 0 {
			at.Field = numbers[at.Field]
		}
	}
	f := &Fields{n: len(names), longest: longest, seed: table.seed, reach: table.reach}
	if f.slots, err = gpu.Of(s, table.slots); err != nil {
		return nil, err
	}
	if f.names, err = gpu.Of(s, words); err != nil {
		return nil, errors.Join(err, f.slots.Free(s))
	}
	return f, nil
}

// Len is how many names there are.
func (f *Fields) Len() int { return f.n }

// Free gives the memory back once the work that s was given before is done.
func (f *Fields) Free(s *gpu.Stream) error {
	return errors.Join(f.slots.Free(s), f.names.Free(s))
}

// packNames returns the bytes of all names, each filled up with 0 to whole words, and the word that
// each begins at.
func packNames(names []string) (words []uint64, at []uint32, longest int, err error) {
	if len(names) > MaxFields {
		return nil, nil, 0, fmt.Errorf("%d names, at most %d", len(names), MaxFields)
	}
	at, longest = make([]uint32, len(names)), -1
	for i, name := range names {
		if len(name) > LongestFieldName {
			return nil, nil, 0, fmt.Errorf("name %d has %d bytes, at most %d", i, len(name), LongestFieldName)
		}
		at[i], longest = uint32(len(words)), max(longest, len(name))
		for ; name != ""; name = name[min(8, len(name)):] {
			words = append(words, nameWord(name))
		}
	}
	return words, at, longest, nil
}

// nameWord is the first 8 bytes of name, the first one lowest; those that are missing are 0.
func nameWord(name string) uint64 {
	var b [8]byte
	copy(b[:], name)
	return binary.LittleEndian.Uint64(b[:])
}

// hashNames makes the table. A quarter of the slots are taken at most, so few names share a
// neighbourhood unless someone chose them to; under another seed these part as well.
func hashNames(names []string, at []uint32) (fieldTable, error) {
	const seeds, longestReach = 16, 64
	for seed := range uint64(seeds) {
		t := fieldTable{
			slots: make([]fieldSlot, 4<<bits.Len(uint(max(1, len(names))-1))),
			seed:  seed * 0xd6e8feb86659fd93,
		}
		for i := range t.slots {
			t.slots[i].Field = -1
		}
		for i := 0; i < len(names) && t.reach <= longestReach; i++ {
			if first := t.insert(names, i, at[i], longestReach); first != i {
				return t, fmt.Errorf("names %d and %d are both %.40q", first, i, names[i])
			}
		}
		if t.reach <= longestReach {
			return t, nil
		}
	}
	return fieldTable{}, fmt.Errorf("%d names have the same hashes under %d seeds", len(names), seeds)
}

// insert puts name i into the first slot free for it, and gives i, or the name that is the same and
// already there. It looks at no more than most slots: after them reach is beyond most.
func (t *fieldTable) insert(names []string, i int, at uint32, most int) int {
	name := names[i]
	hash := t.hash(name)
	for probe := range most {
		s := &t.slots[(hash+uint64(probe))%uint64(len(t.slots))]
		if s.Field < 0 {
			*s = fieldSlot{
				Hash: uint32(hash >> 32), Field: int32(i), At: at, Length: uint32(len(name)),
				First: [2]uint64{nameWord(name), nameWord(name[min(8, len(name)):])},
			}
			t.reach = max(t.reach, probe+1)
			return i
		}
		if s.Hash == uint32(hash>>32) && names[s.Field] == name {
			return int(s.Field)
		}
	}
	t.reach = most + 1
	return i
}

// hash is that of fields_match.
func (t *fieldTable) hash(name string) uint64 {
	h := fieldHash(t.seed, uint64(len(name)))
	for ; name != ""; name = name[min(8, len(name)):] {
		h = fieldHash(h, nameWord(name))
	}
	return h
}

// fieldHash is field_hash of fields.cu.
func fieldHash(hash, word uint64) uint64 {
	high, low := bits.Mul64(hash^word, 0x9e3779b97f4a7c15)
	return low ^ high
}

// MatchKeys reports which field each key is.
//
//	text    n bytes
//	starts  of the keys, quotes left out
//	ends    likewise
//	field   as many elements, overwritten: the name that is text[starts[i]:ends[i]] byte by byte, or -1
//
//	names   "id" "name"
//	text    { " n a m e " : 1 , " i d " : 2 , " I D " : 3 }
//	field       1               0             -1
//
// Escapes are not read: a key with a backslash is the name only that has it, too. A span that does
// not lie in the text is -1, and so is, without being read, a key longer than the longest name.
//
// One launch; reads 16 bytes and a slot of 32 bytes a key, and its text, that of more than 16 bytes
// twice and with its name; writes 4 bytes.
func MatchKeys(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], f *Fields,
	field gpu.Buffer[int32],
) error {
	return MatchAllKeys(k, s, text, starts, ends, f, field, gpu.Buffer[uint32]{})
}

// fieldSearch is FieldSearch of fields.cuh.
type fieldSearch struct {
	last    uint64
	reach   int64
	seed    uint64
	longest int64
}

// search is how a kernel searches f.
func (f *Fields) search() fieldSearch {
	return fieldSearch{
		last: uint64(f.slots.Len() - 1), reach: int64(f.reach), seed: f.seed, longest: int64(f.longest),
	}
}

// fieldsMatchArgs is FieldsMatchArgs of fields.cu.
type fieldsMatchArgs struct {
	n, count int64
	search   fieldSearch
	field    gpu.Pointer[int32]
	missed   gpu.Pointer[uint32]
}

// MatchAllKeys is MatchKeys, and says whether it found all of them.
//
//	missed  one element, overwritten: the first key that is not one of the names, or math.MaxUint32; or no element
func MatchAllKeys(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], f *Fields,
	field gpu.Buffer[int32], missed gpu.Buffer[uint32],
) error {
	const each = 2 // MATCHED of fields.cu
	w := k.Begin(s, "match keys")
	n := w.CheckText(text)
	count := kernels.CountSpans(w, starts, ends)
	w.Need(int64(field.Len()) == count, "%d fields for %d keys", field.Len(), count)
	w.Need(count < math.MaxUint32 && missed.Len() <= 1, "%d elements for the first of %d keys", missed.Len(), count)
	if w.Err == nil {
		w.Err = gpu.Fill(s, missed, 0xff)
	}
	args := fieldsMatchArgs{
		n: n, count: count, search: f.search(), field: field.Pointer(), missed: missed.Pointer(),
	}
	w.Launch("fields_match", kernels.Blocks(count, kernels.Block*each), kernels.Block, text.Arg(), starts.Arg(),
		ends.Arg(), f.slots.Arg(), f.names.Arg(), gpu.Struct(&args))
	return w.Done()
}
