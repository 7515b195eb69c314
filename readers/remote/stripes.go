package remote

import (
	"errors"
	"io"

	"github.com/vibeflight/vibeflight/readers/source"
)

// stripes is the temporary file of an object, in several files: writes to one file exclude each other,
// and so blocks next to each other are in different files. Of 3 files:
//
//	object  │ block 0 │ block 1 │ block 2 │ block 3 │ block 4 │ …
//	file         0         1         2         0         1
type stripes struct {
	files []*source.Temp
	block int64 // bytes
}

// maxStripes is the number of files of a large object. More of them did not make writes faster.
const maxStripes = 16

// newStripes makes the files for an object of a size. The caller closes them.
func newStripes(location string, u source.UnpackOptions, size, block int64) (*stripes, error) {
	s := &stripes{block: block}
	for range max(1, min(maxStripes, (size+block-1)/block)) {
		f, err := source.NewTemp(location, u)
		if err != nil {
			_ = s.Close() // they are empty
			return nil, err
		}
		s.files = append(s.files, f)
	}
	return s, nil
}

// Reserve is source.Temp.Reserve for all files together.
func (s *stripes) Reserve(n int64) error { return s.files[0].Reserve(n) }

// place returns the file of a byte of the object, its offset there, and the bytes to the block's end.
func (s *stripes) place(off int64) (f *source.Temp, at, rest int64) {
	n, in := off/s.block, off%s.block
	count := int64(len(s.files))
	return s.files[n%count], n/count*s.block + in, s.block - in
}

// each calls do with the parts of p that are in one file, and their places.
func (s *stripes) each(p []byte, off int64, do func(f *source.Temp, p []byte, at int64) (int, error)) (
	n int, err error,
) {
	for n < len(p) && err == nil {
		f, at, rest := s.place(off + int64(n))
		var done int
		done, err = do(f, p[n:min(int64(len(p)), int64(n)+rest)], at)
		n += done
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s *stripes) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.each(p, off, func(f *source.Temp, p []byte, at int64) (int, error) { return f.ReadAt(p, at) })
	if n == len(p) && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// WriteAt implements io.WriterAt.
func (s *stripes) WriteAt(p []byte, off int64) (int, error) {
	return s.each(p, off, func(f *source.Temp, p []byte, at int64) (int, error) { return f.WriteAt(p, at) })
}

// Close closes the files.
func (s *stripes) Close() error {
	errs := make([]error, len(s.files))
	for i, f := range s.files {
		errs[i] = f.Close()
	}
	return errors.Join(errs...)
}
