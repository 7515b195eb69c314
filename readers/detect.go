package readers

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/source"
)

// MainsOf gives the names of the files that the one called name belongs to if one of them lies there: those of which a format says that its extension is
// among its Siblings.
func (r Registry) MainsOf(name string) []string {
	var mains []string
	for _, f := range r {
		if slices.Contains(f.Siblings, strings.ToLower(path.Ext(name))) {
			for _, ext := range f.Extensions {
				mains = append(mains, source.Spellings(name, ext)...)
			}
		}
	}
	return mains
}

// undecided extensions say nothing about the format: the first bytes do.
var undecided = []string{"", ".json", ".txt", ".xml"}

// SniffBytes is how much of a file Sniff gets to see.
const SniffBytes = 4096

// Detect finds the format of a file by its name's extension or, where that says nothing, by its first bytes; open opens it, and Detect closes it. It reports
// false for a file that is none of ours.
//
//	roads.geojson.gz   a compressed file is of the format of what is in it, by the inner extension or its first bytes, unless that is Binary
//	parcels.zip        an archive is of the format of the member that Unpack gives
//	trips.kmz          of the format of .kml
func (r Registry) Detect(name string, open func() (*source.File, error)) (Format, bool, error) {
	packing, inner := source.PackingOf(name)
	switch packing {
	case source.KMZ:
		f, ok := r.ByExtension("doc.kml")
		return f, ok, nil
	case source.Zip:
	default:
		if f, ok := r.ByExtension(inner); ok {
			return f, packing == source.Plain || !f.Binary, nil
		}
		if !slices.Contains(undecided, strings.ToLower(path.Ext(inner))) {
			return Format{}, false, nil
		}
	}
	src, err := open()
	if err != nil {
		return Format{}, false, fmt.Errorf("%s: %w", name, err)
	}
	defer src.Close()
	f, ok, err := r.inspect(src, packing)
	if malformed := new(source.PackError); errors.As(err, &malformed) {
		return Format{}, false, nil // its extension promises nothing that we read
	}
	if err != nil {
		return Format{}, false, fmt.Errorf("%s: %w", name, err)
	}
	return f, ok, nil
}

// inspect finds the format of a file by what is in it.
func (r Registry) inspect(src *source.File, packing source.Packing) (Format, bool, error) {
	if packing == source.Zip {
		members, err := src.Members()
		if err != nil {
			return Format{}, false, err
		}
		f, _, ok := r.mainMember(members)
		return f, ok, nil
	}
	head, err := src.UnpackedHead(SniffBytes)
	if err != nil {
		return Format{}, false, err
	}
	for _, f := range r {
		if f.Sniff != nil && (packing == source.Plain || !f.Binary) && f.Sniff(head) {
			return f, true, nil
		}
	}
	return Format{}, false, nil
}

// mainMember is the member that an archive is read for: the first one of a known format that is not the sibling of another one.
func (r Registry) mainMember(members []string) (Format, string, bool) {
	there := make(map[string]bool, len(members))
	for _, name := range members {
		there[name] = true
	}
	for _, name := range members {
		f, ok := r.ByExtension(name)
		if ok && !slices.ContainsFunc(r.MainsOf(name), func(main string) bool { return there[main] }) {
			return f, name, true
		}
	}
	return Format{}, "", false
}

// kmlMember is the member that a KMZ archive is read for: doc.kml, or the first KML file.
func kmlMember(members []string) (string, bool) {
	if slices.Contains(members, "doc.kml") {
		return "doc.kml", true
	}
	i := slices.IndexFunc(members, func(name string) bool { return strings.EqualFold(path.Ext(name), ".kml") })
	if i < 0 {
		return "", false
	}
	return members[i], true
}

// Unpack gives the file that a parser of the format reads: src itself or, if that is packed as Detect knows it, what is in it, as UTF-8 where Format.Recode
// says so. The caller closes the answer if it is another one, and src after it. What is wrong with the packed file is a *ParseError that counts its bytes; contents
// beyond their limits are a *LimitError.
func (r Registry) Unpack(ctx context.Context, f Format, src *source.File, u source.Unpacking) (*source.File, error) {
	content, err := r.unpack(ctx, f, src, u)
	if err != nil || f.Recode == nil {
		return content, err
	}
	recoded, err := f.recode(ctx, content, u)
	if err != nil && content != src {
		_ = content.Close()
	}
	return recoded, err
}

func (r Registry) unpack(ctx context.Context, f Format, src *source.File, u source.Unpacking) (content *source.File, err error) {
	switch packing, _ := source.PackingOf(src.Name); packing {
	case source.Plain:
		return src, nil
	case source.Zip, source.KMZ:
		content, err = r.extract(ctx, f, src, packing, u)
	default:
		content, err = src.Unpack(ctx, u)
	}
	var bad *source.PackError
	if errors.As(err, &bad) {
		return nil, &ParseError{Name: bad.Name, Format: string(bad.Packing), Offset: bad.Offset, Row: -1, Err: bad.Err}
	}
	return content, roomError(src.Name+", unpacked,", err)
}

// roomError makes the error of a content that takes too much room one that names the limit.
func roomError(what string, err error) error {
	var room *source.RoomError
	switch {
	case !errors.As(err, &room):
		return err
	case room.Disk != "":
		return &LimitError{What: what, Flag: "the free room of the disk (--cache-dir)", Limit: room.Limit}
	}
	return &LimitError{What: what, Flag: "--max-unpacked-bytes", Limit: room.Limit}
}

// recode gives the text of a file as its parsers read it: src itself, or its text as UTF-8.
func (f *Format) recode(ctx context.Context, src *source.File, u source.Unpacking) (*source.File, error) {
	head, err := src.Head(SniffBytes)
	if err != nil {
		return nil, err
	}
	recoding, ok := f.Recode(head)
	if !ok {
		return src, nil
	}
	recoded, err := src.Recode(ctx, recoding, u)
	var bad *source.RecodeError
	if errors.As(err, &bad) {
		return nil, &ParseError{Name: src.Name, Format: f.Name, Offset: bad.Offset, Row: -1, Unit: f.Unit, Rule: bad.Rule, Err: bad.Err}
	}
	return recoded, roomError(src.Name+", as UTF-8,", err)
}

func (r Registry) extract(ctx context.Context, f Format, src *source.File, packing source.Packing, u source.Unpacking) (*source.File, error) {
	members, err := src.Members()
	if err != nil {
		return nil, err
	}
	found, name, ok := r.mainMember(members)
	if packing == source.KMZ {
		found = f
		name, ok = kmlMember(members)
	}
	if !ok || found.Name != f.Name {
		return nil, &source.PackError{Name: src.Name, Packing: packing, Offset: src.Size, Err: fmt.Errorf("no member of the archive is a %s file", f.Name)}
	}
	return src.Extract(ctx, name, f.Siblings, u)
}
