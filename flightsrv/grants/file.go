package grants

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/internal/system"
)

// checkEvery is how often the file is examined, at most.
const checkEvery = 200 * time.Millisecond

// maxScopes is how many scopes of callers are kept.
const maxScopes = 4096

// File is the policy in a file. It reads the file again when this changes. It is safe for use by
// several goroutines.
type File struct {
	path  string
	check func(expression string) error // of masks and filters; nil: they are not checked
	log   zerolog.Logger

	mu       sync.Mutex
	examined time.Time
	stamp    stamp
	policy   *policy
	scopes   map[string]*scope // of the policy, by caller
}

// stamp changes if a file is replaced or written to.
type stamp struct {
	size          int64
	device, inode uint64
	modified      time.Time
	changed       int64
}

// Open reads a policy. check returns an error for a mask or filter that is invalid; nil: they are not
// checked. A later version of the file that is invalid is logged, and the former one stays in force.
func Open(path string, check func(expression string) error, log zerolog.Logger) (*File, error) {
	f := &File{path: path, check: check, log: log}
	now, err := f.examine()
	if err != nil {
		return nil, err
	}
	p, err := f.read()
	if err == nil {
		err = f.checked(p, nil)
	}
	if err != nil {
		return nil, err
	}
	f.use(p, now)
	return f, nil
}

// Scope returns the present rights of a caller.
func (f *File) Scope(p *auth.Principal) access.Scope {
	if p == nil {
		return access.None
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.examined) >= checkEvery {
		f.examined = now
		_ = f.refresh() // it is logged
	}
	caller := keyOf(p)
	if s := f.scopes[caller]; s != nil {
		return s
	}
	if len(f.scopes) >= maxScopes {
		clear(f.scopes)
	}
	s := f.policy.scope(p)
	f.scopes[caller] = s
	return s
}

// Reload reads the file again if it has changed, and returns what is wrong with it.
func (f *File) Reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refresh()
}

// refresh is Reload; f.mu is held, but not while masks and filters are checked. It logs a change once.
func (f *File) refresh() error {
	now, err := f.examine()
	if err == nil && now == f.stamp {
		return nil
	}
	if err != nil && f.stamp == (stamp{}) {
		return err // it is logged
	}
	var p *policy
	if err == nil {
		p, err = f.read()
	}
	f.stamp = now // no other call reads it too
	if err == nil && f.check != nil {
		former := f.policy
		f.mu.Unlock()
		err = f.checked(p, former)
		f.mu.Lock()
		if f.stamp != now { // it has changed again, and another call has read it
			return err
		}
	}
	if err != nil {
		f.log.Error().Err(err).Msg("the grants have changed and are invalid; the former ones stay in force")
		return err
	}
	f.use(p, now)
	f.log.Info().Str("file", f.path).Int("rules", len(f.policy.rules)).Msg("the grants are read again")
	return nil
}

// read parses the file.
func (f *File) read() (*policy, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	p, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return p, nil
}

// checked returns an error if a mask or a filter of a policy is invalid. Those of the former policy are
// valid: a change that takes rights away does not wait for them.
func (f *File) checked(p, former *policy) error {
	if f.check == nil {
		return nil
	}
	known := map[string]bool{}
	if former != nil {
		_ = former.check(func(expression string) error { known[expression] = true; return nil })
	}
	err := p.check(func(expression string) error {
		if known[expression] {
			return nil
		}
		known[expression] = true
		return f.check(expression)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// use replaces the policy.
func (f *File) use(p *policy, now stamp) {
	f.stamp, f.policy, f.scopes = now, p, map[string]*scope{}
}

// examine returns the file's stamp.
func (f *File) examine() (stamp, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return stamp{}, err
	}
	s := stamp{size: info.Size(), modified: info.ModTime()}
	if st, ok := system.StatOf(info); ok {
		s.device, s.inode, s.changed = st.Device, st.Inode, st.Changed
	}
	return s, nil
}

// keyOf identifies the callers of equal names, groups and scopes.
func keyOf(p *auth.Principal) string {
	return fmt.Sprintf("%q %q %q %t", p.Name, p.Groups, p.Scopes, p.Scopes == nil)
}

// TokenBounds grants every privilege on every entry, within the scopes of a caller's token.
type TokenBounds struct{}

// Scope returns the rights of a caller.
func (TokenBounds) Scope(p *auth.Principal) access.Scope {
	if p == nil || p.Scopes == nil {
		return access.All
	}
	all := &policy{rules: []rule{{name: everyName, rights: rights{privileges: allPrivileges}}}}
	return all.scope(p)
}
