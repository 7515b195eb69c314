package source

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
)

// maxDirectoryBytes bounds what is read for the directory of a zip archive, which has 46 bytes and
// a name for each member.
const maxDirectoryBytes = 16 << 20

// archive is what of a zip archive is read: a folder of its own, whose files are members that lie
// next to each other.
type archive struct {
	members map[string]*member // by last component
}

// member is the content of a member: a section of the archive, or a temporary file.
type member struct {
	io.ReaderAt
	info fs.FileInfo
	temp *Temp // nil: it is stored
}

func (m *member) Stat() (fs.FileInfo, error) { return m.info, nil }

func (m *member) Close() error { return nil } // with its archive

// whole is the content of the main member, with which the archive is closed.
type whole struct {
	*member
	archive *archive
}

func (w whole) Close() error { return w.archive.close() }

func (a *archive) close() error {
	var err error
	for _, m := range a.members {
		if m.temp != nil {
			err = errors.Join(err, m.temp.Close())
		}
	}
	return err
}

func (a *archive) Look(names []string) ([]fs.FileInfo, error) {
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		if m := a.members[name]; m != nil {
			infos[i] = m.info
		}
	}
	return infos, nil
}

func (a *archive) Open(name string) (Content, string, error) {
	m := a.members[name]
	if m == nil {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return m, name, nil
}

// Members gives the names of the files in a zip archive, in the order of its directory; but for
// hidden ones and those that programs put there for themselves, and names that lead out of a
// folder.
func (f *File) Members() ([]string, error) {
	files, err := f.directory(maxDirectoryBytes)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range files {
		if visible(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

func visible(name string) bool {
	return filepath.IsLocal(name) && !strings.HasSuffix(name, "/") && !strings.HasPrefix(path.Base(name), ".") &&
		!strings.HasPrefix(name, "__MACOSX/")
}

// directory reads the directory of an archive, and not many more bytes than limit.
func (f *File) directory(limit int64) ([]*zip.File, error) {
	if err := f.countMembers(); err != nil {
		return nil, err
	}
	in := &limitedReader{f: f, limit: limit, left: limit}
	r, err := zip.NewReader(in, f.Size)
	if in.err != nil {
		return nil, in.err
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, f.archiveError(f.Size, err)
	}
	in.left = math.MaxInt64 // from here on members ask for their own local headers
	return r.File, nil
}

// limitedReader gives an error when more than n bytes are read.
type limitedReader struct {
	f           *File
	limit, left int64
	err         error // of reading the file, or of the bound
}

func (b *limitedReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 { // an offset of ZIP64 beyond 2^63
		return 0, zip.ErrFormat
	}
	if b.left -= int64(len(p)); b.left < 0 {
		b.err = b.f.archiveError(off, fmt.Errorf("the directory of the archive has more than %d bytes", b.limit))
		return 0, b.err
	}
	n, err := b.f.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

func (f *File) archiveError(at int64, err error) error {
	if errors.Is(err, zip.ErrFormat) {
		err = errors.New("not a zip archive, or its directory at the end is cut off")
	}
	packing, _ := PackingOf(f.Name)
	return &PackError{Name: f.Name, Packing: packing, Offset: at, Err: err}
}

// Extract gives the member of a zip archive that is called name, and keeps at hand what lies next
// to it and has one of the extensions: Sibling of the answer finds that. Stored members are read
// where they are, deflated ones are unpacked side by side. The name of the answer is that of f with
// the member's behind it; Unchanged of it is that of f. The caller closes it, and f after it.
//
// Errors: as of Unpack.
func (f *File) Extract(ctx context.Context, name string, siblings []string, u UnpackOptions) (*File, error) {
	return f.extract(ctx, name, u, func(other string) bool {
		return IsSibling(path.Base(name), path.Base(other), siblings)
	})
}

// ExtractBundle is Extract of the bundle whose main file is the member called name. The name of the
// answer is that of f followed by the folder's.
func (f *File) ExtractBundle(ctx context.Context, name string, b Bundle, u UnpackOptions) (*File, error) {
	main, err := f.extract(ctx, name, u, func(other string) bool { return b.has(other) })
	if err != nil {
		return nil, err
	}
	members, err := membersIn(main.folder, &b)
	if err != nil {
		_ = main.Close()
		return nil, err
	}
	main.bundle = &bundleFiles{Bundle: b, members: members}
	main.Name = f.Name
	if dir := path.Dir(name); dir != "." {
		main.Name += "/" + strings.ToValidUTF8(dir, "\uFFFD")
	}
	return main, nil
}

// extract extracts a member, and those next to it that belong to it.
func (f *File) extract(ctx context.Context, name string, u UnpackOptions, belongs func(other string) bool,
) (*File, error) {
	u = u.withDefaults()
	files, err := f.directory(maxDirectoryBytes)
	if err != nil {
		return nil, err
	}
	var chosen []*extraction
	for _, m := range files {
		if m.Name == name || visible(m.Name) && path.Dir(m.Name) == path.Dir(name) && belongs(m.Name) {
			chosen = append(chosen, &extraction{File: m, f: f})
		}
	}
	if err := f.check(chosen, u.MaxBytes); err != nil {
		return nil, err
	}
	a := &archive{members: map[string]*member{}}
	err = extractAll(ctx, chosen, u)
	for _, x := range chosen {
		a.members[path.Base(x.Name)] = &member{ReaderAt: x.content, info: x.FileInfo(), temp: x.temp}
	}
	main := a.members[path.Base(name)]
	if err == nil && main == nil {
		err = f.archiveError(f.Size, fmt.Errorf("there is no member %q", name))
	}
	if err != nil {
		_ = a.close()
		return nil, err
	}
	return &File{
		Name: f.Name + "/" + strings.ToValidUTF8(name, "\uFFFD"), Path: f.Path, Size: main.info.Size(),
		Modified: f.Modified, Identity: f.Identity,
		content: whole{main, a}, folder: a, base: path.Base(name), packed: f,
	}, nil
}

// extraction is a member on its way out.
type extraction struct {
	*zip.File
	f       *File
	at      int64 // of its bytes in the archive
	content io.ReaderAt
	temp    *Temp
}

// check refuses members that can't be read as the directory says, before a byte is unpacked.
func (f *File) check(chosen []*extraction, limit int64) error {
	slices.SortStableFunc(chosen, func(a, b *extraction) int { return strings.Compare(a.Name, b.Name) })
	var total uint64
	for i, x := range chosen {
		at, err := x.DataOffset()
		if err != nil && !errors.Is(err, zip.ErrFormat) && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil {
			return f.archiveError(f.Size, fmt.Errorf("member %q: its header is not where the directory at the end says",
				x.Name))
		}
		x.at = at
		stored := x.Method == zip.Store
		switch {
		case i > 0 && chosen[i-1].Name == x.Name:
			return x.wrong(errors.New("two members have this name"))
		case !x.Mode().IsRegular():
			return x.wrong(errors.New("is a link, or another thing that is no file"))
		case x.Flags&1 != 0:
			return x.wrong(errors.New("is encrypted"))
		case !stored && x.Method != zip.Deflate:
			return x.wrong(fmt.Errorf("is packed by method %d; 0 (stored) and 8 (deflated) are read", x.Method))
		case x.CompressedSize64 > uint64(f.Size) || uint64(at) > uint64(f.Size)-x.CompressedSize64:
			return x.wrong(fmt.Errorf("its %d bytes go beyond the end of the archive", x.CompressedSize64))
		case stored && x.CompressedSize64 != x.UncompressedSize64:
			return x.wrong(fmt.Errorf("is stored, and has %d bytes and %d bytes", x.CompressedSize64,
				x.UncompressedSize64))
		case !stored && x.UncompressedSize64/1100 > x.CompressedSize64:
			return x.wrong(fmt.Errorf("claims to hold %d bytes in %d, more than DEFLATE can",
				x.UncompressedSize64, x.CompressedSize64))
		}
		if !stored {
			total += x.UncompressedSize64
		}
	}
	if total > uint64(limit) {
		return &RoomError{Name: f.Name, Limit: limit}
	}
	byPlace := slices.SortedFunc(slices.Values(chosen), func(a, b *extraction) int {
		return int(min(1, max(-1, a.at-b.at)))
	})
	for i := 1; i < len(byPlace); i++ {
		if before := byPlace[i-1]; before.at+int64(before.CompressedSize64) > byPlace[i].at {
			return byPlace[i].wrong(fmt.Errorf("overlaps with member %q", before.Name))
		}
	}
	return nil
}

// wrong is what is wrong with a member, at its first byte if the archive has that.
func (x *extraction) wrong(err error) error {
	return x.f.archiveError(min(x.at, x.f.Size), fmt.Errorf("member %q: %w", x.Name, err))
}

// extractAll extracts members, several at a time. Of several errors it gives the one of the first
// member.
func extractAll(ctx context.Context, chosen []*extraction, u UnpackOptions) error {
	errs := make([]error, len(chosen))
	next := make(chan int)
	var running sync.WaitGroup
	for range min(u.Workers, len(chosen)) {
		running.Go(func() {
			for i := range next {
				errs[i] = chosen[i].extract(ctx, u)
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// extract reads all bytes of the member, and compares their number and their checksum.
func (x *extraction) extract(ctx context.Context, u UnpackOptions) error {
	in := x.f.stream(ctx, x.at, x.at+int64(x.CompressedSize64))
	sum := crc32.NewIEEE()
	var n int64
	var bad error
	if x.Method == zip.Store {
		x.content = io.NewSectionReader(x.f, x.at, int64(x.CompressedSize64))
		n, bad = io.Copy(sum, in.Reader)
	} else {
		var err error
		if x.temp, err = NewTemp(x.f.Name, u); err != nil {
			return err
		}
		x.content = x.temp
		// A byte more than there shall be shows that there are too many.
		content := io.LimitReader(flate.NewReader(in.Reader), int64(x.UncompressedSize64)+1)
		if bad, err = drain(ctx, io.TeeReader(content, sum), make([]byte, copyBytes), x.temp.write); err != nil {
			return err
		}
		n = x.temp.size.Load()
	}
	switch {
	case bad != nil:
		bad = words(bad)
	case n != int64(x.UncompressedSize64):
		bad = fmt.Errorf("has %d bytes or more, not the %d that the directory says", n, x.UncompressedSize64)
	case sum.Sum32() != x.CRC32:
		bad = errors.New("does not have the checksum that the directory says")
	default:
		return nil
	}
	return in.wrong(fmt.Errorf("member %q: %w", x.Name, bad))
}
