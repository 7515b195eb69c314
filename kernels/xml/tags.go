package xml

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// XMLAny is the byte of a tag in a dictionary that stands for any value of an attribute without
// references, tabs and line ends, up to the quote after it.
const XMLAny = 1

// XMLRole is what a start tag begins.
type XMLRole uint8

// As XML_* of xml_tags.cuh.
const (
	XMLEnd XMLRole = iota // nothing: it is an end tag
	XMLRow                // a row
	// what stands around rows. Between two of them is either nothing or the end of one and the
	// beginning of another
	XMLAround
	// what holds elements, one at least. Text next to them is passed, as it is in all that is no
	// value
	XMLHolder
	XMLValue     // a value: no element, but text, a CDATA section, or nothing
	XMLPassed    // what says nothing
	XMLShape     // a geometry, or a ring or the like in one
	XMLFirst     // what holds the first shapes of the shape around it: an exterior
	XMLMore      // what holds others: an interior
	XMLPositions // text of positions: "x y x y"
	XMLPosition  // text of one position: "x y"
	XMLTuples    // text of positions: "x,y x,y"
)

// XMLTag is a tag of a dictionary.
type XMLTag struct {
	Text    []byte  // between "<" and ">", up to 1024 bytes
	Name    int     // of its element, up to 254: tags with the same one begin and end each other
	Role    XMLRole // of a start tag
	Class   uint8   // of the element, up to 63
	Parents uint64  // bits of the classes of elements that may stand right around it
	Column  int     // of a value, or of what stands for XMLAny in a row's tag; -1: none
	Word    XMLWord // of a shape
}

// XMLWord is what WKT calls a shape. It has none in a shape that is no collection.
type XMLWord uint8

// As WORDS of xml_lines.cu.
const (
	XMLNoWord XMLWord = iota
	XMLPoint
	XMLLineString
	XMLPolygon
	XMLMultiPoint
	XMLMultiLineString
	XMLMultiPolygon
	XMLCollection
)

// MaxXMLTags is how many tags a dictionary has at most, and MaxXMLColumns how many columns its
// values make.
const (
	MaxXMLTags    = 255
	MaxXMLColumns = 64
	longestXMLTag = 1024
	noXMLColumn   = 255
)

// XMLDictionary is tags on the device. It serves any number of texts.
type XMLDictionary struct {
	tags    int
	columns int
	entry   gpu.Buffer[xmlEntry]
	texts   gpu.Buffer[byte]
}

// xmlEntry is XMLEntry of xml_tags.cuh.
type xmlEntry struct {
	Parents             uint64
	Hash, At            uint32
	Length              uint16
	Name, Role          uint8
	Class               uint8 `cuda:"klass"`
	Column, Word, Empty uint8
}

// AllocXMLDictionary takes a dictionary to the device; Free gives it back. What stands in several
// of its tags is the first of them.
func AllocXMLDictionary(s *gpu.Stream, tags []XMLTag) (*XMLDictionary, error) {
	if len(tags) == 0 || len(tags) > MaxXMLTags {
		return nil, fmt.Errorf("kernels: a dictionary of %d XML tags, at most %d", len(tags), MaxXMLTags)
	}
	d, entries, texts := &XMLDictionary{tags: len(tags)}, make([]xmlEntry, len(tags)), []byte{}
	for i, t := range tags {
		if len(t.Text) == 0 || len(t.Text) > longestXMLTag || t.Name < 0 || t.Name >= MaxXMLTags ||
			t.Column >= MaxXMLColumns || t.Class > 63 || !quotedAny(t.Text) {
			return nil, fmt.Errorf("kernels: XML tag %q, name %d, column %d, class %d", t.Text, t.Name,
				t.Column, t.Class)
		}
		e := &entries[i]
		*e = xmlEntry{
			Parents: t.Parents, Hash: xmlHash(t.Text), At: uint32(len(texts)), Length: uint16(len(t.Text)),
			Name: uint8(t.Name), Role: uint8(t.Role), Class: t.Class, Column: noXMLColumn, Word: uint8(t.Word),
		}
		if t.Column >= 0 {
			e.Column, d.columns = uint8(t.Column), max(d.columns, t.Column+1)
		}
		if t.Role != XMLEnd && t.Text[len(t.Text)-1] == '/' {
			e.Empty = 1
		}
		texts = append(texts, t.Text...)
	}
	var err error
	if d.entry, err = gpu.Of(s, entries); err != nil {
		return nil, err
	}
	if d.texts, err = gpu.Of(s, texts); err != nil {
		return nil, errors.Join(err, d.entry.Free(s))
	}
	return d, nil
}

// quotedAny reports whether a quote follows each XMLAny.
func quotedAny(text []byte) bool {
	for i, c := range text {
		if c == XMLAny && (i+1 == len(text) || text[i+1] != '"' && text[i+1] != '\'') {
			return false
		}
	}
	return true
}

// xmlHash is tag_hash of xml_tags.cuh.
func xmlHash(text []byte) uint32 {
	if end := bytes.IndexAny(text, " \t\n\r"); end >= 0 {
		text = text[:end]
	}
	hash := uint32(2166136261)
	for _, c := range text {
		hash = (hash ^ uint32(c)) * 16777619
	}
	return hash
}

// Free gives the memory back once the work that s was given before is done.
func (d *XMLDictionary) Free(s *gpu.Stream) error {
	return errors.Join(d.entry.Free(s), d.texts.Free(s))
}

// MatchXML finds out which tag of a dictionary each tag of a text is. One that is not one of them is a
// fault. Once only for each text.
//
//	text  of x
//
// One launch; reads the text of tags, which is compared with that of the dictionary, and 16 bytes a
// tag, and writes a byte and a bit.
func MatchXML(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *XML, d *XMLDictionary) error {
	w := k.Begin(s, "match XML tags")
	w.Need(w.CheckText(text) == x.n, "%d bytes of text for tags of %d", text.Len(), x.n)
	w.Need(x.kinds.Len() == 0, "tags that were matched before")
	w.Need(x.Tags > 0, "no tag")
	x.kinds, x.rows = kernels.Result[uint8](w, int64(x.Tags)), kernels.Result[uint64](w, int64(kernels.Words(x.Tags)))
	w.Launch("xml_match", kernels.Blocks(int64(x.Tags), kernels.Block), kernels.Block, text.Arg(),
		gpu.Int(x.n), x.Starts.Arg(),
		x.Ends.Arg(), gpu.Int(x.Tags), d.entry.Arg(), gpu.Int(d.tags), d.texts.Arg(),
		x.kinds.Arg(), x.rows.Arg(), x.Found.Arg())
	return w.Done()
}
