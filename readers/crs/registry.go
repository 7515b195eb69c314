// Package crs knows coordinate reference systems: those of PROJ's database (EPSG, ESRI, IGNF, IAU
// and OGC), by authority and code, by every form of a name, and by a definition in WKT or PROJJSON.
// It computes nothing: transformations are DuckDB's.
package crs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// These files are made by registry.py, which describes them.
var (
	//go:embed data/index.zst
	indexPacked []byte
	//go:embed data/definitions.bin
	definitionsPacked []byte
	//go:embed data/wkt.bin
	wktPacked []byte
)

// Kind is what a system locates with.
type Kind string

// The kinds of systems in the registry.
const (
	Geographic Kind = "geographic" // 2D or 3D
	Geocentric Kind = "geocentric"
	Projected  Kind = "projected"
	Vertical   Kind = "vertical"
	Compound   Kind = "compound"
)

// System is a coordinate reference system of the registry.
type System struct {
	Authority, Code string // "EPSG", "4326"
	Name            string // "WGS 84"
	Kind            Kind
	Dimensions      int  // number of axes: 1 to 3
	NorthFirst      bool // the authority has the axes north, then east
	Deprecated      bool

	others string // other names, with tabs between them
	number int    // in the registry
}

// ID is the authority and the code of a system, as the registry spells them.
type ID struct{ Authority, Code string }

// String returns "EPSG:4326".
func (id ID) String() string { return id.Authority + ":" + id.Code }

// Lookup finds a system by its authority and code; letters may be of either case.
func Lookup(authority, code string) (System, bool) {
	r := registry()
	for i := range r.byID.numbers(strings.ToUpper(authority + ":" + code)) {
		if s := r.system(i); strings.EqualFold(s.Authority, authority) && strings.EqualFold(s.Code, code) {
			return s, true
		}
	}
	return System{}, false
}

// ID returns the name of the system.
func (s *System) ID() ID { return ID{s.Authority, s.Code} }

// PROJJSON returns the definition of a system of the registry.
func (s *System) PROJJSON() json.RawMessage {
	return json.RawMessage(registry().definitions.line(s.number))
}

// WKT1 returns the definition of a system in the WKT 1 of GDAL, "" for one that WKT 1 cannot
// define.
func (s *System) WKT1() string {
	_, gdal := s.texts()
	return gdal
}

// ESRI returns the definition of a system in the WKT 1 of ESRI, which a .prj has; "" for one that it
// cannot define.
func (s *System) ESRI() string {
	esri, _ := s.texts()
	return esri
}

// texts returns the definitions in the WKT 1 of ESRI and of GDAL.
func (s *System) texts() (esri, gdal string) {
	esri, gdal, _ = strings.Cut(registry().texts.line(s.number), "\t")
	return esri, gdal
}

// PROJJSON returns the definition of a registered system, or of a compound one by the codes of its
// parts (25832+7837).
func PROJJSON(authority, code string) (json.RawMessage, bool) {
	if s, ok := Lookup(authority, code); ok {
		return s.PROJJSON(), true
	}
	horizontal, vertical, ok := parts(authority, code)
	if !ok {
		return nil, false
	}
	return compoundJSON(&horizontal, &vertical), true
}

// parts returns the systems that a compound one is made of, by their codes.
func parts(authority, code string) (horizontal, vertical System, ok bool) {
	first, second, _ := strings.Cut(code, "+")
	horizontal, ok1 := Lookup(authority, first)
	vertical, ok2 := Lookup(authority, second)
	return horizontal, vertical, ok1 && ok2 && vertical.Kind == Vertical &&
		(horizontal.Kind == Projected || horizontal.Kind == Geographic)
}

// compoundJSON returns the PROJJSON of a compound system without a code, as PROJ writes it.
func compoundJSON(horizontal, vertical *System) json.RawMessage {
	type members struct {
		Schema     json.RawMessage   `json:"$schema"`
		Type       string            `json:"type"`
		Name       string            `json:"name"`
		Components []json.RawMessage `json:"components"`
	}
	m := members{Type: "CompoundCRS", Name: horizontal.Name + " + " + vertical.Name}
	for _, s := range []*System{horizontal, vertical} {
		text := string(s.PROJJSON()) // {"$schema":"…","type":…
		schema, rest, _ := strings.Cut(strings.TrimPrefix(text, `{"$schema":`), ",")
		m.Schema = json.RawMessage(schema)
		m.Components = append(m.Components, json.RawMessage("{"+rest))
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic("crs: the embedded registry: " + err.Error())
	}
	return text
}

// NorthFirst reports a registered system whose authority has the axes north (or latitude), then
// east. Of a compound system the horizontal part counts.
func NorthFirst(authority, code string) bool {
	if s, ok := Lookup(authority, code); ok {
		return s.NorthFirst
	}
	horizontal, _, ok := parts(authority, code)
	return ok && horizontal.NorthFirst
}

// Dimensions returns the number of axes of a registered system, with those of each part of a
// compound one; 0 for an unknown system.
func Dimensions(authority, code string) int {
	if s, ok := Lookup(authority, code); ok {
		return s.Dimensions
	}
	if horizontal, vertical, ok := parts(authority, code); ok {
		return horizontal.Dimensions + vertical.Dimensions
	}
	return 0
}

// index is the registry without the definitions. It has next to no pointers: it stays in memory for
// as long as the process does, and every garbage collection would follow them.
type index struct {
	text               string   // the lines that index.zst has
	systems, datums    []uint32 // where the line of each begins in text, and where the last one ends
	byID               keys     // "EPSG:4326" in upper case
	definitions, texts blocks
}

// registry is unpacked when first asked for: some ms.
var registry = sync.OnceValue(func() *index {
	text := string(unpacked(indexPacked))
	definitions, rest, _ := strings.Cut(text, "\n")
	texts, _, _ := strings.Cut(rest, "\n")
	r := &index{
		text: text, definitions: newBlocks(definitionsPacked, definitions), texts: newBlocks(wktPacked, texts),
	}
	first := len(definitions) + len(texts) + 2
	end := first + strings.Index(text[first:], "\n\n") + 1
	r.systems = lineStarts(text[:end], first)
	r.datums = lineStarts(text, end+1)
	r.byID = newKeys(func(add func(key string, number int)) {
		for i := range r.count() {
			s := r.system(i)
			add(strings.ToUpper(s.Authority+":"+s.Code), i)
		}
	})
	return r
})

// lineStarts returns where each line of text from an offset on begins, and where the last one ends.
// Each ends with a line feed.
func lineStarts(text string, at int) []uint32 {
	starts := []uint32{uint32(at)}
	for at < len(text) {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			n = len(text) - at - 1
		}
		at += n + 1
		starts = append(starts, uint32(at))
	}
	return starts
}

// count returns the number of systems.
func (r *index) count() int { return len(r.systems) - 1 }

// system returns the one of a number.
func (r *index) system(n int) System {
	line := r.text[r.systems[n] : r.systems[n+1]-1]
	next := func() (field string) {
		field, line, _ = strings.Cut(line, "\t")
		return field
	}
	s := System{Authority: next(), Code: next(), Kind: Kind(next()), Dimensions: int(next()[0] - '0'), number: n}
	flags := next()
	s.NorthFirst, s.Deprecated = strings.Contains(flags, "n"), strings.Contains(flags, "d")
	s.Name = next()
	s.others = line
	return s
}

// aliases returns the other names of the system.
func (s *System) aliases() iter.Seq[string] {
	if s.others == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(s.others, "\t")
}

// datum returns the names of the datum or ellipsoid of a number.
func (r *index) datum(n int) iter.Seq[string] {
	return strings.SplitSeq(strings.TrimSuffix(r.text[r.datums[n]:r.datums[n+1]], "\n"), "\t")
}

// blocks are lines, packed by the block. A block is unpacked when a line of it is first asked for.
type blocks struct {
	first  []int          // the number of each block's first line
	blocks []func() lines // of each block
}

// lines are texts between line feeds.
type lines struct {
	text   string
	starts []uint32
}

// newBlocks reads where blocks are: "first line:offset first line:offset …".
func newBlocks(packed []byte, directory string) blocks {
	var b blocks
	entries := strings.Fields(directory)
	end := len(packed)
	b.first, b.blocks = make([]int, len(entries)), make([]func() lines, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		first, offset, _ := strings.Cut(entries[i], ":")
		start := number(offset)
		frame := packed[start:end]
		b.first[i], end = number(first), start
		b.blocks[i] = sync.OnceValue(func() lines {
			text := string(unpacked(frame))
			return lines{text, lineStarts(text, 0)}
		})
	}
	return b
}

// line returns the line of a number.
func (b *blocks) line(n int) string {
	i := sort.SearchInts(b.first, n+1) - 1
	l, n := b.blocks[i](), n-b.first[i]
	return strings.TrimSuffix(l.text[l.starts[n]:l.starts[n+1]], "\n")
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("crs: the embedded index: %v", err))
	}
	return n
}

func unpacked(frame []byte) []byte {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("crs: " + err.Error())
	}
	defer d.Close()
	text, err := d.DecodeAll(frame, nil)
	if err != nil {
		panic("crs: the embedded registry: " + err.Error())
	}
	return text
}
