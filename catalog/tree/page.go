package tree

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// page is some neighbors in a listing, sorted by name. It is immutable: listings share pages. Columns
// that are the same for all files of the page are left out, and so are the bytes that all names begin
// with. text of a.csv with an ETag, and of b.csv:
//
//	│ a.csv │ h │ 16 bytes of the ETag │ b.csv │ h │ 16 bytes of the ETag │
//	        rests[0]                 ends[0]                            ends[1]
type page struct {
	prefix   string // of all names
	text     string // of each file: the rest of its name, and its version
	ends     []uint32
	rests    []uint16 // bytes
	sizes    []int64
	modified []int64 // nanoseconds since 1970; or noTime
	formats  []uint8 // index in listing.formats, plus 1; 0: of no format
	siblings []bool  // the file belongs to another one; nil: none does
	local    []localID
	digests  [][16]byte // of the files' own siblings; nil: none has any
	tables   map[int]*archiveTables
}

// localID is the rest of the identity of a file of this host.
type localID struct {
	ctime int64
	inode uint64
}

// noTime is the modification time of an object that has none.
const noTime = math.MinInt64

// namedFile is a file with its name in a listing.
type namedFile struct {
	name string
	file file
}

// newPage returns a page of at least one file. The files are sorted by name.
func newPage(files []namedFile, formats []string) *page {
	n := len(files)
	p := &page{
		prefix: strings.Clone(commonPrefix(files[0].name, files[n-1].name)),
		ends:   make([]uint32, n), rests: make([]uint16, n), sizes: make([]int64, n),
		modified: make([]int64, n), formats: make([]uint8, n),
	}
	var text []byte
	for i := range files {
		f := &files[i].file
		rest := files[i].name[len(p.prefix):]
		text = appendVersion(append(text, rest...), f.identity.Object)
		p.rests[i], p.ends[i] = uint16(len(rest)), uint32(len(text))
		p.sizes[i] = f.identity.Size
		p.modified[i] = noTime
		if !f.modified.IsZero() {
			p.modified[i] = f.modified.UnixNano()
		}
		p.formats[i] = uint8(slices.Index(formats, f.format) + 1)
		if f.sibling {
			p.siblings = sized(p.siblings, n)
			p.siblings[i] = true
		}
		if id := (localID{f.identity.Ctime, f.identity.Inode}); id != (localID{}) {
			p.local = sized(p.local, n)
			p.local[i] = id
		}
		if f.identity.Siblings != [16]byte{} {
			p.digests = sized(p.digests, n)
			p.digests[i] = f.identity.Siblings
		}
		if f.tables != nil {
			if p.tables == nil {
				p.tables = map[int]*archiveTables{}
			}
			p.tables[i] = f.tables
		}
	}
	p.text = string(text)
	return p
}

// sized returns a column of n values unless there is one.
func sized[T any](column []T, n int) []T {
	if column == nil {
		return make([]T, n)
	}
	return column
}

func commonPrefix(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func (p *page) len() int { return len(p.ends) }

// at returns the bytes of text that are of file i.
func (p *page) at(i int) string {
	if i == 0 {
		return p.text[:p.ends[0]]
	}
	return p.text[p.ends[i-1]:p.ends[i]]
}

// rest returns what follows the prefix in the name of file i.
func (p *page) rest(i int) string { return p.at(i)[:p.rests[i]] }

// name returns the name of file i. With head, it is made in one allocation.
func (p *page) name(head string, i int) string { return head + p.prefix + p.rest(i) }

// compare compares the name of file i with a name.
func (p *page) compare(i int, name string) int {
	n := min(len(name), len(p.prefix))
	if c := cmp.Compare(p.prefix[:n], name[:n]); c != 0 || n < len(p.prefix) {
		return cmp.Or(c, 1)
	}
	return cmp.Compare(p.rest(i), name[n:])
}

// search returns the index of the first file whose name is not less than a name.
func (p *page) search(name string) int {
	lo, hi := 0, p.len()
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); p.compare(mid, name) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// isEntry reports whether file i is an entry: it has a format, and belongs to no other file.
func (p *page) isEntry(i int) bool {
	return p.formats[i] != 0 && (p.siblings == nil || !p.siblings[i])
}

// file returns file i. formats are those that the page was made with.
func (p *page) file(i int, formats []string) file {
	f := file{tables: p.tables[i]}
	f.identity.Size = p.sizes[i]
	f.identity.Object = versionOf(p.at(i)[p.rests[i]:])
	if ns := p.modified[i]; ns != noTime {
		f.modified = time.Unix(0, ns)
		if f.identity.Remote() {
			f.modified = f.modified.UTC()
		}
		if f.identity.Object == "" || f.identity.Object == "date" {
			f.identity.Mtime = ns
		}
	}
	if k := p.formats[i]; k > 0 {
		f.format = formats[k-1]
	}
	f.sibling = p.siblings != nil && p.siblings[i]
	if p.local != nil {
		id := p.local[i]
		f.identity.Ctime, f.identity.Inode = id.ctime, id.inode
	}
	if p.digests != nil {
		f.identity.Siblings = p.digests[i]
	}
	return f
}

// equal reports whether two pages have the same files.
func (p *page) equal(q *page) bool {
	return p.prefix == q.prefix && p.text == q.text && slices.Equal(p.ends, q.ends) &&
		slices.Equal(p.rests, q.rests) && slices.Equal(p.sizes, q.sizes) &&
		slices.Equal(p.modified, q.modified) && slices.Equal(p.formats, q.formats) &&
		slices.Equal(p.siblings, q.siblings) && slices.Equal(p.local, q.local) &&
		slices.Equal(p.digests, q.digests) && maps.Equal(p.tables, q.tables)
}

// Kinds of versions in the text of a page, which are short forms of what stores write. A version
// that has no short form is versionText.
//
//	etag:"<32 hexadecimal digits>"       S3: h and 16 bytes
//	etag:"<32 hexadecimal digits>-<n>"   S3, of an upload in parts: p, 16 bytes and a varint
//	etag:"0x<hexadecimal digits>"        Azure: a and a varint
//	generation:<n>                       Google: g and a varint
const (
	versionETag       = 'h'
	versionParts      = 'p'
	versionAzure      = 'a'
	versionGeneration = 'g'
	versionText       = 't'
)

// appendVersion appends the short form of a version; "" has no bytes.
func appendVersion(b []byte, v source.ObjectVersion) []byte {
	if v == "" {
		return b
	}
	n := len(b)
	if b = appendShort(b, string(v)); len(b) > n && versionOf(string(b[n:])) == v {
		return b
	}
	return append(append(b[:n], versionText), v...)
}

// appendShort appends the short form that a version seems to have, or nothing.
func appendShort(b []byte, v string) []byte {
	if digits, ok := strings.CutPrefix(v, "generation:"); ok {
		n, _ := strconv.ParseUint(digits, 10, 64)
		return binary.AppendUvarint(append(b, versionGeneration), n)
	}
	tag, ok := strings.CutPrefix(v, `etag:"`)
	if !ok {
		return b
	}
	tag = strings.TrimSuffix(tag, `"`)
	if digits, ok := strings.CutPrefix(tag, "0x"); ok {
		n, _ := strconv.ParseUint(digits, 16, 64)
		return binary.AppendUvarint(append(b, versionAzure), n)
	}
	digits, parts, several := strings.Cut(tag, "-")
	var sum [16]byte
	if len(digits) != 2*len(sum) {
		return b
	}
	_, _ = hex.Decode(sum[:], []byte(digits)) // appendVersion compares
	if !several {
		return append(append(b, versionETag), sum[:]...)
	}
	n, _ := strconv.ParseUint(parts, 10, 64)
	return binary.AppendUvarint(append(append(b, versionParts), sum[:]...), n)
}

// versionOf returns the version of a short form.
func versionOf(s string) source.ObjectVersion {
	if s == "" {
		return ""
	}
	kind, s := s[0], s[1:]
	var b []byte
	switch kind {
	case versionText:
		return source.ObjectVersion(s)
	case versionGeneration:
		b = strconv.AppendUint([]byte("generation:"), uvarint(s), 10)
		return source.ObjectVersion(b)
	case versionAzure:
		b = append(b, strings.ToUpper(strconv.FormatUint(uvarint(s), 16))...)
		return source.ObjectVersion(`etag:"0x` + string(b) + `"`)
	}
	b = append(make([]byte, 0, 64), `etag:"`...)
	b = hex.AppendEncode(b, []byte(s[:16]))
	if kind == versionParts {
		b = strconv.AppendUint(append(b, '-'), uvarint(s[16:]), 10)
	}
	return source.ObjectVersion(append(b, '"'))
}

func uvarint(s string) uint64 {
	n, _ := binary.Uvarint([]byte(s))
	return n
}
