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

// MainsOf returns the names of the files that the file called name may be a sibling of: those of
// each format that lists its extension in Siblings.
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

// IsSibling reports whether the file called name may belong to another one: a format says that its
// extension is among its Siblings.
func (r Registry) IsSibling(name string) bool {
	return slices.ContainsFunc(r, func(f Format) bool {
		return slices.Contains(f.Siblings, strings.ToLower(path.Ext(name)))
	})
}

// OfFolder finds the format of a folder that users see as one file. is reports whether the folder is
// a bundle.
func (r Registry) OfFolder(name string, is func(b source.Bundle) bool) (Format, bool) {
	for _, f := range r {
		if f.Bundle.Names(name) && is(f.Bundle) {
			return f, true
		}
	}
	return Format{}, false
}

// undecided lists the extensions that do not determine the format: the first bytes do.
var undecided = []string{"", ".json", ".txt", ".xml"}

// SniffBytes is how many bytes of a file Sniff receives.
const SniffBytes = 4096

// Detect finds the format of a file by its name's extension or, if that does not determine it, by
// its first bytes; open opens it, and Detect closes it. It returns false for a file of no known
// format.
//
//	roads.geojson.gz   a compressed file is of the format of its content, by the inner extension or the
//	                   first bytes, unless that is Binary
//	parcels.zip        an archive is of the format of the first table in it, the member that Unpack returns
//	trips.kmz          of the format of .kml
func (r Registry) Detect(name string, open func() (*source.File, error)) (Format, bool, error) {
	f, _, ok, err := r.Inspect(name, open)
	return f, ok, err
}

// Inspect is like Detect and also returns the tables of an archive that has several, in the order
// of its directory. The first one is of the format.
func (r Registry) Inspect(name string, open func() (*source.File, error)) (Format, []Member, bool, error) {
	if f, ok, decided := r.OfName(name); decided {
		return f, nil, ok, nil
	}
	packing, _ := source.PackingOf(name)
	src, err := open()
	if err != nil {
		return Format{}, nil, false, fmt.Errorf("%s: %w", name, err)
	}
	defer src.Close()
	f, tables, ok, err := r.inspect(src, packing)
	if malformed := new(source.PackError); errors.As(err, &malformed) {
		return Format{}, nil, false, nil // its extension is of no format
	}
	if err != nil {
		return Format{}, nil, false, fmt.Errorf("%s: %w", name, err)
	}
	return f, tables, ok, nil
}

// OfName finds the format of a file by its name alone. ok is false if it is of no format. decided is
// false if only the content of the file tells.
func (r Registry) OfName(name string) (f Format, ok, decided bool) {
	packing, inner := source.PackingOf(name)
	switch packing {
	case source.KMZ:
		f, ok = r.ByExtension("doc.kml")
		return f, ok, true
	case source.Zip:
		return Format{}, false, false
	}
	if f, ok = r.ByExtension(inner); ok {
		return f, packing == source.Plain || !f.Binary, true
	}
	return Format{}, false, !slices.Contains(undecided, strings.ToLower(path.Ext(inner)))
}

// inspect finds the format of a file by its content.
func (r Registry) inspect(src *source.File, packing source.Packing) (Format, []Member, bool, error) {
	if packing == source.Zip {
		members, err := src.Members()
		if err != nil {
			return Format{}, nil, false, err
		}
		switch tables := r.tables(members); len(tables) {
		case 0:
			return Format{}, nil, false, nil
		case 1:
			return tables[0].Format, nil, true, nil
		default:
			return tables[0].Format, tables, true, nil
		}
	}
	head, err := src.UnpackedHead(SniffBytes)
	if err != nil {
		return Format{}, nil, false, err
	}
	for _, f := range r {
		if f.Sniff != nil && (packing == source.Plain || !f.Binary) && f.Sniff(head) {
			return f, nil, true, nil
		}
	}
	return Format{}, nil, false, nil
}

// kmlMember returns the main member of a KMZ archive: doc.kml, or the first KML file.
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

// Unpack returns the file that a parser of the format reads: src itself, or the content of a file
// that is packed in a way that Detect knows. Format.Recode may turn it to UTF-8. If the result is
// not src, the caller closes it, and then src. A defect of the packed file is a *ParseError whose
// offset counts packed bytes; content beyond its limits is a *LimitError.
func (r Registry) Unpack(ctx context.Context, f Format, src *source.File, u source.UnpackOptions) (content *source.File,
	err error,
) {
	return r.UnpackLayer(ctx, f, src, "", u)
}

// UnpackLayer is Unpack for one layer of the file; "" is the first. In an archive of several tables
// a layer is one that Inspect returned; otherwise it is the table that has the layer. A layer that
// an archive of several tables does not have is a *NoLayerError.
func (r Registry) UnpackLayer(ctx context.Context, f Format, src *source.File, layer string,
	u source.UnpackOptions,
) (*source.File, error) {
	content, err := r.unpack(ctx, f, src, layer, u)
	if err != nil || f.Recode == nil {
		return content, err
	}
	recoded, err := f.recode(ctx, content, u)
	if err != nil && content != src {
		_ = content.Close()
	}
	return recoded, unpackError(src, err)
}

// ReadLayer calls read with what UnpackLayer returns, while it is being unpacked where that is
// possible: then the parse reads what is there, and waits for the rest. What read returns counts only
// if ReadLayer returns no error. A defect of the packed file is its error, whatever read has made of
// the bytes. read is called a second time if the content turns out to have another size than the
// packed file says. It has had a prefix of the content then, and not its end.
func (r Registry) ReadLayer(ctx context.Context, f Format, src *source.File, layer string, u source.UnpackOptions,
	read func(content *source.File) error,
) error {
	u.Ahead = !f.Indexed
	content, err := r.UnpackLayer(ctx, f, src, layer, u)
	if err != nil {
		return err
	}
	if content != src {
		defer content.Close()
	}
	err = read(content)
	if !content.Coming() {
		return err
	}
	switch whole, bad := content.Whole(); {
	case bad != nil:
		return unpackError(src, bad)
	case whole != content:
		return read(whole)
	}
	return err
}

func (r Registry) unpack(ctx context.Context, f Format, src *source.File, layer string,
	u source.UnpackOptions,
) (content *source.File, err error) {
	switch packing, _ := source.PackingOf(src.Name); packing {
	case source.Plain:
		return src, nil
	case source.Zip, source.KMZ:
		content, err = r.extract(ctx, f, src, packing, layer, u)
	default:
		content, err = src.Unpack(ctx, u)
	}
	if err != nil {
		return nil, unpackError(src, err)
	}
	return content, nil
}

// unpackError turns an error of unpacking a file into one that names the place or the limit.
func unpackError(src *source.File, err error) error {
	var bad *source.PackError
	if errors.As(err, &bad) {
		return &ParseError{Name: bad.Name, Format: string(bad.Packing), Offset: bad.Offset, Row: -1, Err: bad.Err}
	}
	return roomError(src.Name+", unpacked,", err)
}

// roomError turns the error for content that is too large into one that names the limit.
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

// recode returns src as its parsers read it: src itself, or its text as UTF-8.
func (f *Format) recode(ctx context.Context, src *source.File, u source.UnpackOptions) (*source.File, error) {
	head, err := src.Head(SniffBytes)
	recoding, ok := f.Recode(head)
	if err == nil && !ok {
		return src, nil
	}
	if whole, bad := src.Whole(); bad != nil {
		return nil, bad
	} else if whole != src { // its size was not what the packed file says
		return f.recode(ctx, whole, u)
	}
	if err != nil {
		return nil, err
	}
	recoded, err := src.Recode(ctx, recoding, u)
	var bad *source.RecodeError
	if errors.As(err, &bad) {
		return nil, &ParseError{
			Name: src.Name, Format: f.Name, Offset: bad.Offset, Row: -1, Unit: f.Unit,
			Rule: bad.Rule, Err: bad.Err,
		}
	}
	return recoded, roomError(src.Name+", as UTF-8,", err)
}

func (r Registry) extract(ctx context.Context, f Format, src *source.File, packing source.Packing,
	layer string, u source.UnpackOptions,
) (*source.File, error) {
	members, err := src.Members()
	if err != nil {
		return nil, err
	}
	var m Member
	var layers []string
	ok := false
	if packing == source.KMZ {
		m.Format = f
		m.Name, ok = kmlMember(members)
	} else if tables := r.tables(members); len(tables) > 0 {
		layers = layersOf(tables)
		i := 0
		if layers != nil && layer != "" {
			if i = slices.Index(layers, layer); i < 0 {
				return nil, &NoLayerError{Name: src.Name, Layer: layer, Layers: layers}
			}
		}
		m, ok = tables[i], true
	}
	if !ok || m.Format.Name != f.Name {
		return nil, &source.PackError{
			Name: src.Name, Packing: packing, Offset: src.Size,
			Err: fmt.Errorf("no member of the archive is a %s file", f.Name),
		}
	}
	var content *source.File
	if m.isBundle() {
		content, err = src.ExtractBundle(ctx, m.Name, f.Bundle, u)
	} else {
		content, err = src.Extract(ctx, m.Name, f.Siblings, u)
	}
	if err == nil {
		content.Layers = layers
	}
	return content, err
}
