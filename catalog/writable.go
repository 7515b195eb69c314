package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// One root may be writable: clients store tables in it, as Arrow IPC files, and remove them. It is
// served like the others.

// storedExtension ends the names of files that clients store.
const storedExtension = ".arrow"

// DefaultMaxStoredBytes bounds such a file where nobody says.
const DefaultMaxStoredBytes = 16 << 30

// Mode says what becomes of a table that has the name of one that is stored.
type Mode uint8

// The modes.
const (
	Create       Mode = iota // it must not be there
	Replace                  // it may be there, and goes
	Append                   // it must be there: the rows come behind its own
	CreateAppend             // the same, if it is there
)

func (m Mode) appends() bool { return m == Append || m == CreateAppend }

// ErrReadOnly says that no root is writable.
var ErrReadOnly = errors.New("this server is read-only: it was started without --writable")

// NameError says why a table can't be stored under a name.
type NameError struct {
	Name string
	Err  error
}

func (e *NameError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

func (e *NameError) Unwrap() error { return e.Err }

// ExistsError says that there is an entry of a name.
type ExistsError struct {
	Name     string
	ReadOnly bool // it lies in another root than the writable one
}

func (e *ExistsError) Error() string {
	if e.ReadOnly {
		return fmt.Sprintf("%s: an entry of this name lies in a folder that is not writable", e.Name)
	}
	return fmt.Sprintf("%s: there is an entry of this name: replace it or append to it, if that is meant", e.Name)
}

// NotWritableError says that an entry lies in another root than the writable one, or that nobody
// has stored it.
type NotWritableError struct{ Name string }

func (e *NotWritableError) Error() string {
	return fmt.Sprintf("%s: only tables that clients have stored can be dropped (.arrow files of --writable)", e.Name)
}

// openWritable removes what a crash has left, and gives the root, which is the last one.
func openWritable(given *Root, roots []*root) (*root, error) {
	if given == nil {
		return nil, nil
	}
	r := roots[len(roots)-1]
	dir, err := r.open()
	if err != nil {
		return nil, err
	}
	if err := removeDrafts(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Dir, err)
	}
	return r, nil
}

// Writable reports whether a root is writable.
func (c *Catalog) Writable() bool { return c.writable != nil }

// place says what an entry is called that a client calls name, and where its file lies: the alias
// of the root may be left out, and so may the extension.
func (c *Catalog) place(name string) (full, rel string, err error) {
	r := c.writable
	if r == nil {
		return "", "", ErrReadOnly
	}
	if name == "" {
		return "", "", &NameError{`""`, errors.New("is no name")}
	}
	full = name
	if r.Alias != "" && !strings.HasPrefix(full, r.Alias+"/") {
		full = r.Alias + "/" + full
	}
	switch path.Ext(full) {
	case "":
		full += storedExtension
	case storedExtension:
	default:
		return "", "", &NameError{name, fmt.Errorf("a stored table is an Arrow file: want the extension %s, or none",
			storedExtension)}
	}
	rel, ok := r.rel(full)
	if !ok {
		return "", "", &NameError{name, errors.New(
			"is no name of an entry: want components separated by '/' that are not empty and do not begin with '.', " +
				"'#' and '%' as %23 and %25",
		)}
	}
	return full, rel, nil
}

// allowed says why an entry can't be stored under a name, as the folders are now.
func (c *Catalog) allowed(name string, mode Mode) error {
	e, err := c.Lookup(name)
	var none *NotFoundError
	switch {
	case errors.As(err, &none) && mode == Append:
		return err
	case errors.As(err, &none):
		return nil
	case err != nil:
		return err
	case e.root != c.writable:
		return &ExistsError{Name: name, ReadOnly: true}
	case mode == Create:
		return &ExistsError{Name: name}
	}
	return nil
}

// Drop removes an entry that a client has stored, its file and its tables. Who reads it goes on.
//
// Errors: *NotFoundError, *NotWritableError, ErrReadOnly, those of the file system.
func (c *Catalog) Drop(ctx context.Context, name string) error {
	if c.writable == nil {
		return ErrReadOnly
	}
	e, err := c.Lookup(name)
	if err != nil {
		return err
	}
	if e.root != c.writable || path.Ext(e.rel) != storedExtension {
		return &NotWritableError{name}
	}
	leave, err := c.storing.enter(ctx, e.rel)
	if err != nil {
		return err
	}
	defer leave()
	dir, err := c.writable.open()
	if err != nil {
		return err
	}
	if _, err := c.Evict(ctx, name); err != nil {
		return err
	}
	if err := dir.Remove(e.rel); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := syncFolders(dir, e.rel); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return c.relist(ctx, e.rel)
}
