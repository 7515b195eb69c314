package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/share"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// notSharedError says why a table can't be shared. Its rows can be read by a stream.
type notSharedError struct{ name, why string }

func (e *notSharedError) Error() string {
	return fmt.Sprintf("%s can't be shared with this machine's programs: %s; read it by DoGet", e.name, e.why)
}

// sharedTable is the answer of the action share.
type sharedTable struct {
	Key     string `json:"key"`
	Version string `json:"version"`
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"` // of the file, or on the GPU
}

// share offers the cached file of a whole table to a client of this machine.
func (s *service) share(ctx context.Context, body []byte) (any, error) {
	return s.shareBy(ctx, body, s.offerFile)
}

// shareDevice offers a whole table in the memory of a GPU to a client of this machine.
func (s *service) shareDevice(ctx context.Context, body []byte) (any, error) {
	return s.shareBy(ctx, body, s.offerOnGPU)
}

// shareBy offers the table that body names. offer takes the use of the table.
func (s *service) shareBy(ctx context.Context, body []byte,
	offer func(context.Context, *catalog.TableRef) (*sharedTable, error),
) (any, error) {
	t, err := ticket.ParseName(body, "name", "options", "version")
	if err != nil {
		return nil, err
	}
	c := callOf(ctx)
	c.selects(t)
	switch {
	case s.shares == nil:
		return nil, &notSharedError{t.Name, "the server listens on no unix socket"}
	case s.elsewhere(ctx, t) != "":
		return nil, &notSharedError{t.Name, "another server of the fleet has it"}
	}
	ref, err := s.cfg.Catalog.Table(ctx, t.Request())
	if err != nil {
		return nil, err
	}
	if !access.KnowsAll(s.cfg.Catalog.Scope(ctx), ref.Entry.Name) || catalog.IsPart(ref) {
		ref.Release()
		return nil, &notSharedError{t.Name, "you may read a part of it only"}
	}
	if err := c.addRows(ref.Table.Rows); err != nil {
		ref.Release()
		return nil, err
	}
	out, err := offer(ctx, ref)
	if err != nil {
		return nil, err
	}
	c.bytes += out.Bytes
	return out, nil
}

// offerOnGPU offers a table in the memory of a GPU. It takes the use of the table.
func (s *service) offerOnGPU(ctx context.Context, ref *catalog.TableRef) (*sharedTable, error) {
	defer ref.Release()
	if s.cfg.GPUTables == nil {
		return nil, &notSharedError{
			ref.Entry.Name, "the server keeps no tables on a GPU: it was started without --gpu-tables",
		}
	}
	contents, release, err := ref.OnGPU(ctx, s.cfg.GPUTables)
	if err != nil {
		return nil, sharingError(err)
	}
	gift, err := share.Table(contents)
	if err != nil {
		release()
		return nil, err
	}
	out := &sharedTable{Version: ref.Version, Rows: ref.Table.Rows, Bytes: contents.Kept + contents.Copied}
	if out.Key, err = s.shares.Offer(gift, release); err != nil {
		return nil, sharingError(err)
	}
	return out, nil
}

// offerFile offers the file of a table. It takes the use of the table.
func (s *service) offerFile(ctx context.Context, ref *catalog.TableRef) (*sharedTable, error) {
	name := ref.Entry.Name
	out := &sharedTable{Version: ref.Version, Rows: ref.Table.Rows}
	f, err := ref.Open(ctx)
	if err != nil {
		ref.Release()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &notSharedError{name, "it is in no file of the cache"}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		ref.Release()
		return nil, errors.Join(err, f.Close())
	}
	out.Bytes = info.Size()
	if out.Key, err = s.shares.Offer(share.File(f), ref.Release); err != nil {
		return nil, sharingError(err)
	}
	return out, nil
}

// sharingError returns the error for a table that can't be offered now.
func sharingError(err error) error {
	if errors.Is(err, share.ErrFull) || errors.Is(err, resident.ErrFull) {
		return &overloadError{what: err.Error()}
	}
	return err
}

// listenShare listens for clients that map files, next to a unix socket. It does nothing for other
// addresses. Without it, clients read by DoGet.
func (s *Server) listenShare(addr string) {
	path, ok := strings.CutPrefix(addr, "unix://")
	if !ok {
		return
	}
	l, err := listenUnix(path + share.Suffix)
	if err != nil {
		s.cfg.Log.Warn().Err(err).Str("socket", addr).Msg("clients on this machine can't map tables: they read streams")
		return
	}
	s.sharing = append(s.sharing, l)
	if s.service.shares == nil {
		s.service.shares = share.New()
	}
}

func (s *Server) serveShares(g *errgroup.Group) {
	for _, l := range s.sharing {
		g.Go(func() error { return s.service.shares.Serve(l) })
	}
}

// closeShares ends the leases. Clients keep what they have mapped.
func (s *Server) closeShares() {
	for _, l := range s.sharing {
		_ = l.Close() // it may be closed
	}
	if s.service.shares != nil {
		s.service.shares.Close()
	}
}
