package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// search is one program on its way: where its image was looked for, and what came of it.
type search struct {
	*programs
	key      string
	src      Source
	info     ProgramInfo
	refused  []byte // by the driver, last of all
	warnings []error
}

// errNone says that a place has no image, and that nothing is wrong with that.
var errNone = errors.New("none")

// build finds an image and loads it.
func (p *programs) build(key string, src Source) (*Program, error) {
	start := time.Now()
	s := &search{programs: p, key: key, src: src, info: ProgramInfo{Name: src.Name}}
	var failed []error
	for _, look := range []func() ([]byte, error){s.compiledIn, s.cached, s.compiled, s.portable} {
		image, err := look()
		if errors.Is(err, errNone) {
			continue
		}
		var m driver.Module
		if err == nil {
			m, err = s.load(image)
		}
		if err == nil {
			s.info.ImageBytes, s.info.Duration = len(image), time.Since(start)
			s.info.Warning = errors.Join(append(failed, s.warnings...)...)
			return p.keep(&Program{drv: p.drv, m: m, info: s.info}), nil
		}
		if errors.Is(err, ErrLost) || errors.Is(err, ErrMemory) {
			return nil, err // no other image fares better
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// load passes an image to the driver.
func (s *search) load(image []byte) (driver.Module, error) {
	m, err := s.drv.Load(image)
	if err != nil {
		s.refused = image
		return 0, fmt.Errorf("image for %s (%s): %w", s.info.Arch, s.info.Origin, err)
	}
	return m, nil
}

// found notes where an image comes from.
func (s *search) found(from Origin, arch string) { s.info.Origin, s.info.Arch = from, arch }

// compiledIn is the image of this very source and architecture.
func (s *search) compiledIn() ([]byte, error) {
	if s.images == nil {
		return nil, errNone
	}
	image, ok := s.images.Image(s.key, s.arch)
	if !ok {
		return nil, errNone
	}
	s.found(FromImages, s.arch)
	return image, nil
}

// cached is the image that this compiler made before.
func (s *search) cached() ([]byte, error) {
	if s.cache == nil || s.compiler == nil {
		return nil, errNone
	}
	image := s.cache.get(s.cacheKey())
	if image == nil {
		return nil, errNone
	}
	s.found(FromCache, s.arch)
	return image, nil
}

// cacheKey is of everything that an image depends on.
func (s *search) cacheKey() cacheKey {
	return digest(cacheVersion, s.compiler.Version(), s.arch, s.key)
}

// compiled compiles, and leaves the image in the cache. Who holds the entry's lock compiles, so of
// several processes one does. Trouble with the cache is a warning: the image is there all the same.
func (s *search) compiled() ([]byte, error) {
	if s.compiler == nil {
		if s.missing == nil {
			return nil, ErrNoCompiler
		}
		return nil, fmt.Errorf("%w: %w", ErrNoCompiler, s.missing)
	}
	if s.cache == nil {
		return s.compile()
	}
	entry, err := s.cache.lock(s.cacheKey())
	if err != nil {
		s.warnings = append(s.warnings, err)
		return s.compile()
	}
	defer entry.release()
	// Another process may have had the lock, and made the image.
	if image, err := s.cached(); err == nil && !bytes.Equal(image, s.refused) {
		return image, nil
	}
	entry.drop()
	image, err := s.compile()
	if err != nil {
		return nil, err
	}
	if err := entry.commit(image); err != nil {
		s.warnings = append(s.warnings, err)
	}
	return image, nil
}

// compile calls the compiler, at the same time as others, up to the number of cores.
func (s *search) compile() ([]byte, error) {
	s.working <- struct{}{}
	defer func() { <-s.working }()
	s.found(FromCompiler, s.arch)
	image, log, err := s.compiler.Compile(s.src, s.arch)
	s.info.Log = log
	return image, err
}

// oldestPTX is the first architecture that PTX is made for; devices before compute capability 8.0
// are refused.
const oldestPTX = 80

// portable is PTX, which a driver compiles for every architecture from that of the PTX on; the
// newest has most to choose from.
func (s *search) portable() ([]byte, error) {
	number, isCard := strings.CutPrefix(s.arch, "sm_")
	newest, err := strconv.Atoi(strings.TrimRight(number, "af")) // of sm_90a too
	if s.images == nil || !isCard || err != nil {
		return nil, errNone
	}
	for n := newest; n >= oldestPTX; n-- {
		arch := fmt.Sprintf("compute_%d", n)
		if image, ok := s.images.Image(s.key, arch); ok {
			s.found(FromPTX, arch)
			return image, nil
		}
	}
	return nil, errNone
}
