package inbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/tree"
)

// One root may be writable: clients store tables in it, as Arrow IPC files, and remove them. It is
// served like the others.

// storedExtension is the extension of the files that clients store.
const storedExtension = ".arrow"

// DefaultMaxStoredBytes is the default of Config.MaxStoredBytes.
const DefaultMaxStoredBytes = 16 << 30

// Mode says how a table is stored if there is one of the same name.
type Mode uint8

// The modes.
const (
	Create       Mode = iota // it must not exist
	Replace                  // it is replaced if it exists
	Append                   // it must exist; the rows are added after its own
	CreateAppend             // the rows are added after its own if it exists
)

func (m Mode) appends() bool { return m == Append || m == CreateAppend }

// ErrReadOnly is the error if no root is writable.
var ErrReadOnly = errors.New("this server is read-only: it was started without --writable")

// NameError says why a table cannot be stored under a name.
type NameError struct {
	Name string
	Err  error
}

func (e *NameError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

func (e *NameError) Unwrap() error { return e.Err }

// ExistsError says that an entry has the name.
type ExistsError struct {
	Name     string
	ReadOnly bool // it is in another root than the writable one
}

func (e *ExistsError) Error() string {
	if e.ReadOnly {
		return fmt.Sprintf("%s: an entry of this name is in a folder that is not writable", e.Name)
	}
	return fmt.Sprintf("%s: there is an entry of this name: replace it or append to it, if that is meant", e.Name)
}

// NotWritableError says that an entry is in another root than the writable one, or that no client
// has stored it.
type NotWritableError struct{ Name string }

func (e *NotWritableError) Error() string {
	return fmt.Sprintf("%s: only tables that clients have stored can be dropped (.arrow files of --writable)", e.Name)
}

// FullName returns the full name of an entry that a client stores: with the alias of the root and
// the extension. Errors: *NameError, ErrReadOnly.
func (c *Inbox) FullName(name string) (string, error) {
	full, _, err := c.resolve(name)
	return full, err
}

// resolve returns the full name of an entry, and the path of its file below the root. The alias of
// the root and the extension may be left out of name.
func (c *Inbox) resolve(name string) (full, rel string, err error) {
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
	rel, ok := r.Rel(full)
	if !ok {
		return "", "", &NameError{name, errors.New(
			"is no name of an entry: want components separated by '/' that are not empty and do not begin with '.', " +
				"'#' and '%' as %23 and %25",
		)}
	}
	return full, rel, nil
}

// allowed returns an error if an entry cannot be stored under a name, as the folders are now.
func (c *Inbox) allowed(ctx context.Context, name string, mode Mode) error {
	e, err := c.cfg.Tree.Lookup(ctx, name)
	var notFound *tree.NotFoundError
	switch {
	case errors.As(err, &notFound) && mode == Append:
		return err
	case errors.As(err, &notFound):
		return nil
	case err != nil:
		return err
	case !e.In(c.writable):
		return &ExistsError{Name: name, ReadOnly: true}
	case mode == Create:
		return &ExistsError{Name: name}
	}
	return nil
}

// Drop removes an entry that a client has stored: its file and its tables. Calls that read it
// continue.
//
// Errors: *tree.NotFoundError, *NotWritableError, ErrReadOnly, those of the file system.
func (c *Inbox) Drop(ctx context.Context, name string) error {
	if c.writable == nil {
		return ErrReadOnly
	}
	e, err := c.cfg.Tree.Lookup(ctx, name)
	if err != nil {
		return err
	}
	if !e.In(c.writable) || path.Ext(e.Rel()) != storedExtension {
		return &NotWritableError{name}
	}
	leave, err := c.storing.lock(ctx, e.Rel())
	if err != nil {
		return err
	}
	defer leave()
	dir, err := c.writable.Open()
	if err != nil {
		return err
	}
	if _, err := c.cfg.Evict(ctx, name); err != nil {
		return err
	}
	if err := dir.Remove(e.Rel()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := syncFolders(dir, e.Rel()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return c.cfg.Tree.Relist(ctx, c.writable, e.Rel())
}
