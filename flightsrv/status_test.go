package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

func TestStatusError(t *testing.T) {
	f := serve(t, nil)
	parse := &readers.ParseError{
		Name: "a", Format: "geojson", Offset: 18734, Line: 213, Row: 212,
		Unit: "feature", Err: errors.New("ring is not closed"),
	}
	denied := &fs.PathError{Op: "open", Path: "/srv/secret/a", Err: syscall.EACCES}
	out := &fs.PathError{Op: "openat", Path: "/srv/secret/a", Err: errors.New("path escapes from parent")}
	for _, c := range []struct {
		name  string
		err   error
		code  codes.Code
		words string
	}{
		{"none", nil, codes.OK, ""},
		{"not found", &catalog.NotFoundError{Name: "a", Closest: []string{"b"}}, codes.NotFound, `the closest is "b"`},
		{"parse", parse, codes.InvalidArgument, "a: geojson: byte 18734, line 213, feature 212: ring is not closed"},
		{
			"limit", &readers.LimitError{What: "it", Flag: "--max-depth", Limit: 3, Err: parse},
			codes.ResourceExhausted, "the limit 3 of --max-depth",
		},
		{"option", &readers.OptionError{Option: "x", Err: errors.New("no")}, codes.InvalidArgument, "options.x"},
		{
			"ticket", fmt.Errorf("ticket: %w", &ticket.Error{Field: "rows", Err: errors.New("no")}),
			codes.InvalidArgument,
			`ticket: field "rows": no`,
		},
		{"column", &catalog.UnknownColumnError{Column: "x", Nearest: "y"}, codes.InvalidArgument, `"y"`},
		{"changed", &catalog.ChangedError{Name: "a", Want: "v1", Have: "v2"}, codes.FailedPrecondition, "v1"},
		{
			"link out", fmt.Errorf("a: %w (%w)", source.ErrChanged, out), codes.FailedPrecondition,
			"while it was read (openat: path escapes from parent)",
		},
		{
			"folder is a file", &fs.PathError{Op: "statat", Path: "a/b", Err: syscall.ENOTDIR}, codes.NotFound,
			"not a directory",
		},
		{
			"links in a loop", &fs.PathError{Op: "statat", Path: "a/b", Err: syscall.ELOOP}, codes.NotFound,
			"symbolic links",
		},
		{
			"changed while read", fmt.Errorf("a: %w (%w)", source.ErrChanged, fs.ErrNotExist),
			codes.FailedPrecondition, "changed",
		},
		{"cancelled", fmt.Errorf("a: %w", context.Canceled), codes.Canceled, ""},
		{"late", context.DeadlineExceeded, codes.DeadlineExceeded, ""},
		{"gRPC's own", fmt.Errorf("send: %w", status.Error(codes.Unavailable, "gone")), codes.Unavailable, "gone"},
		{"permission", fmt.Errorf("a: %w", denied), codes.FailedPrecondition, "a: the server may not open the file"},
		{
			"gone", &fs.PathError{Op: "open", Path: "/srv/secret/a", Err: syscall.ENOENT}, codes.NotFound,
			"a: open: no such file",
		},
		{
			"files", &fs.PathError{Op: "open", Path: "/srv/secret/a", Err: syscall.EMFILE}, codes.ResourceExhausted,
			"too many open files",
		},
		{
			"disk", &fs.PathError{Op: "read", Path: "/srv/secret/a", Err: syscall.EIO}, codes.Internal,
			"a: read: input/output error",
		},
		{"closed", catalog.ErrClosed, codes.Unavailable, "closed"},
		{"unserved", &unimplementedError{"DoPut: no"}, codes.Unimplemented, "DoPut"},
		{
			"syntax", &engine.Error{Kind: duck.Syntax, Message: "syntax error at or near", Position: -1},
			codes.InvalidArgument, "syntax error",
		},
		{
			"syntax at a place", &engine.Error{Kind: duck.Syntax, Message: "syntax error", Position: 7},
			codes.InvalidArgument, "byte 7 of the query: syntax error",
		},
		{"denied", &engine.Error{Kind: duck.Denied, Message: "only queries"}, codes.InvalidArgument, "only queries"},
		{
			"query memory", &engine.Error{Kind: duck.Memory, Message: "could not allocate"}, codes.ResourceExhausted,
			"--sql-memory",
		},
		{"interrupted", &engine.Error{Kind: duck.Interrupted, Message: "Interrupted!"}, codes.Canceled, ""},
		{
			"not there", &engine.Error{Kind: duck.Unsupported, Message: "no such type"}, codes.Unimplemented,
			"no such type",
		},
		{"DuckDB's mistake", &engine.Error{Kind: duck.Internal, Message: "assertion"}, codes.Internal, "assertion"},
		{"ambiguous", &engine.AmbiguousError{Name: "a"}, codes.InvalidArgument, "a"},
		{
			"filter", fmt.Errorf("x: %w", &restrict.FilterError{Filter: "a > > 1", Err: &engine.Error{
				Kind: duck.Syntax, Message: "syntax error", Position: 4,
			}}), codes.InvalidArgument, "x: where: byte 4: syntax error\n  a > > 1\n      ^",
		},
		{
			"filter's memory", &restrict.FilterError{Filter: "a", Err: &engine.Error{
				Kind: duck.Memory, Message: "could not allocate", Position: -1,
			}}, codes.ResourceExhausted, "where: could not allocate",
		},
		{
			"filter without SQL", &restrict.FilterError{Filter: "a", Err: restrict.ErrNoSQL}, codes.Unimplemented,
			"--no-sql",
		},
		{"no SQL", engine.ErrNoSQL, codes.Unimplemented, "SQL"},
		{
			"request", fmt.Errorf("x: %w", &sql.RequestError{What: "transaction_id"}), codes.InvalidArgument,
			"transaction_id",
		},
		{
			"request about a file", &sql.RequestError{What: "x", Err: &catalog.NotFoundError{Name: "a"}},
			codes.NotFound, "a",
		},
		{"unsupported", &sql.UnsupportedError{What: "updates"}, codes.Unimplemented, "updates"},
		{"handle", &sql.HandleError{Kind: "result"}, codes.NotFound, "result"},
		{"many handles", &sql.LimitError{What: "close some"}, codes.ResourceExhausted, "close some"},
		{"stale", &sql.StaleError{What: "columns"}, codes.FailedPrecondition, "columns"},
		{"cancelled by another call", &sql.CancelledError{}, codes.Canceled, "CancelQuery"},
		{"SQL closed", sql.ErrClosed, codes.Unavailable, "closed"},
		{
			"name", &catalog.NameError{Name: "a.csv", Err: errors.New("want .arrow")}, codes.InvalidArgument,
			"a.csv: want .arrow",
		},
		{"there already", &catalog.ExistsError{Name: "a"}, codes.AlreadyExists, "replace it"},
		{"not stored", &catalog.NotWritableError{Name: "a"}, codes.PermissionDenied, "--writable"},
		{"read-only", catalog.ErrReadOnly, codes.Unimplemented, "--writable"},
		{
			"message", fmt.Errorf("a: %w", &uploads.MessageError{Err: errors.New("is cut")}), codes.InvalidArgument,
			"a: is cut",
		},
		{"shape", &readers.ShapeError{Name: "a", Row: 7, What: "column x"}, codes.InvalidArgument, "from 7 on"},
		{"no layer", &readers.NoLayerError{Name: "a", Layer: "x"}, codes.NotFound, "layer"},
		{
			"slow", &timeoutError{"exchange", "--exchange-timeout", time.Second}, codes.DeadlineExceeded,
			"--exchange-timeout",
		},
		{"idle", &idleError{"a", time.Second}, codes.DeadlineExceeded, "done_writing"},
		{"panic", &panicError{value: "secret"}, codes.Internal, "defect"},
		{"panic with a status", &panicError{value: status.Error(codes.OK, "")}, codes.Internal, "defect"},
		{"anything", errors.New("boo"), codes.Internal, "boo"},
		{"long", errors.New(strings.Repeat("é", 5000)), codes.Internal, "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := f.server.service.statusError("a", c.err)
			wantStatus(t, err, c.code, c.words)
			text := status.Convert(err).Message()
			if strings.Contains(text, "secret") || len(text) > maxMessageText+3 {
				t.Errorf("%d bytes: %s", len(text), text)
			}
		})
	}
}
