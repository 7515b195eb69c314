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
)

// notSharedError says why a table can't be passed as a file. Its rows can be read by a stream.
type notSharedError struct{ name, why string }

func (e *notSharedError) Error() string {
	return fmt.Sprintf("%s can't be passed as a file: %s; read it by DoGet", e.name, e.why)
}

// sharedTable is the answer of the action share.
type sharedTable struct {
	Key     string `json:"key"`
	Version string `json:"version"`
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"` // of the file
}

// share offers the cached file of a whole table to a client of this machine.
func (s *service) share(ctx context.Context, body []byte) (any, error) {
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
	out, err := s.offer(ctx, ref)
	if err != nil {
		return nil, err
	}
	c.bytes += out.Bytes
	return out, nil
}

// offer offers the file of a table. It takes the use of the table.
func (s *service) offer(ctx context.Context, ref *catalog.TableRef) (*sharedTable, error) {
	name := ref.Entry.Name
	if !access.KnowsAll(s.cfg.Catalog.Scope(ctx), name) || catalog.IsPart(ref) {
		ref.Release()
		return nil, &notSharedError{name, "you may read a part of it only"}
	}
	out := &sharedTable{Version: ref.Version, Rows: ref.Table.Rows}
	if err := callOf(ctx).addRows(out.Rows); err != nil {
		ref.Release()
		return nil, err
	}
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
	if out.Key, err = s.shares.Offer(f, ref.Release); err != nil {
		if errors.Is(err, share.ErrFull) {
			return nil, &overloadError{what: err.Error()}
		}
		return nil, err
	}
	return out, nil
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
