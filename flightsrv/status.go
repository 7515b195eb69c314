package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/share"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// maxMessageText bounds the text of a status. It is sent percent-encoded in a trailer, and clients
// refuse trailers above 8 KiB.
const maxMessageText = 2000

// unimplementedError is the error of a call or an action that this server does not have.
type unimplementedError struct{ what string }

func (e *unimplementedError) Error() string { return e.what }

// panicError is a panic that an interceptor caught: a broken invariant of the server.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// requestError is the error of an invalid or missing request message.
type requestError struct{ err error }

func (e *requestError) Error() string {
	if s, ok := status.FromError(e.err); ok {
		return "request: " + s.Message()
	}
	return fmt.Sprintf("request: %v", e.err)
}

func (e *requestError) Unwrap() error { return e.err }

// code is that of gRPC, but for bytes that it can't decode: gRPC calls these Internal.
func (e *requestError) code() codes.Code {
	if c := status.Code(e.err); !isServerError(c) {
		return c
	}
	return codes.InvalidArgument
}

// isClientError reports whether a call with this code failed because of its request.
func isClientError(c codes.Code) bool {
	switch c {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.Unauthenticated,
		codes.ResourceExhausted, codes.FailedPrecondition, codes.OutOfRange, codes.Unimplemented:
		return true
	}
	return false
}

// codeOf returns the code of an error. Errors without a better one are Internal.
func codeOf(err error) codes.Code {
	var (
		notFound  *catalog.NotFoundError
		changed   *catalog.ChangedError
		column    *catalog.UnknownColumnError
		crs       *catalog.OtherCRSError
		partition *catalog.PartitionError
		misfit    *catalog.MisfitError
		rules     *catalog.RulesError
		options   *catalog.OptionsError
		limit     *readers.LimitError
		parse     *readers.ParseError
		option    *readers.OptionError
		badTicket *ticket.Error
		unserved  *unimplementedError
		panicked  *panicError
		request   *requestError
		overload  *overloadError
		bound     *admission.LimitError
		ended     *endError
		forbidden *forbiddenError
		shape     *readers.ShapeError
		logins    *auth.LimitError
		noLogin   *auth.UnavailableError
		byHTTP    *httpcall.Error

		unreachable *fleet.UnreachableError
		certificate *certificateError
		notShared   *notSharedError
		rpc, isRPC  = status.FromError(err)
	)
	switch {
	case err == nil:
		return codes.OK
	case errors.As(err, &panicked):
		return codes.Internal
	case errors.As(err, &byHTTP):
		return codeNamed(byHTTP.Code)
	case errors.As(err, &request):
		return request.code()
	case errors.As(err, &ended) && ended.unavailable:
		return codes.Unavailable
	case errors.As(err, &ended): // pyarrow takes Canceled for Ctrl-C, and interrupts the program
		return codes.Aborted
	case errors.Is(err, auth.ErrUnauthenticated):
		return codes.Unauthenticated
	case errors.As(err, &logins):
		return codes.ResourceExhausted
	case errors.As(err, &noLogin):
		return codes.Unavailable
	case errors.As(err, &unreachable):
		return codes.Unavailable
	case errors.As(err, &certificate), errors.As(err, &notShared):
		return codes.FailedPrecondition
	case isRPC: // of gRPC itself: a send on a cancelled stream or a lost connection
		return rpc.Code()
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.As(err, &unserved):
		return codes.Unimplemented
	case errors.As(err, &badTicket), errors.As(err, &column), errors.As(err, &crs), errors.As(err, &option),
		errors.As(err, &shape), errors.As(err, &partition), errors.As(err, &misfit):
		return codes.InvalidArgument
	case errors.As(err, &changed), errors.Is(err, source.ErrChanged), errors.As(err, &rules),
		errors.Is(err, catalog.ErrUnreadable):
		return codes.FailedPrecondition
	case errors.As(err, &options):
		return codes.PermissionDenied
	case errors.As(err, &overload), errors.As(err, &bound):
		return codes.ResourceExhausted
	case errors.As(err, &forbidden):
		return codes.PermissionDenied
	case errors.As(err, &limit): // before ParseError, which it wraps for the position
		return codes.ResourceExhausted
	case errors.As(err, &parse):
		return codes.InvalidArgument
	case errors.As(err, &notFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, readers.ErrNoLayer),
		errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return codes.NotFound
	case errors.Is(err, fs.ErrPermission): // the server may not read the file
		return codes.FailedPrecondition
	case errors.Is(err, catalog.ErrClosed), errors.Is(err, share.ErrClosed):
		return codes.Unavailable
	case system.Scarce(err):
		return codes.ResourceExhausted
	}
	return codeOfPut(err)
}

// codeOfPut is codeOf for errors of storing, and of missing privileges.
func codeOfPut(err error) codes.Code {
	var (
		name     *catalog.NameError
		exists   *catalog.ExistsError
		readOnly *catalog.NotWritableError
		denied   *access.DeniedError
		message  *uploads.MessageError
	)
	switch {
	case errors.As(err, &name), errors.As(err, &message):
		return codes.InvalidArgument
	case errors.As(err, &exists):
		return codes.AlreadyExists
	case errors.As(err, &readOnly), errors.As(err, &denied):
		return codes.PermissionDenied
	case errors.Is(err, catalog.ErrReadOnly), errors.Is(err, restrict.ErrNoSQL):
		return codes.Unimplemented
	}
	return codeOfSQL(err)
}

// codeOfSQL is codeOf for errors of Flight SQL alone.
func codeOfSQL(err error) codes.Code {
	var (
		query       *engine.Error
		ambiguous   *engine.AmbiguousError
		request     *sql.RequestError
		unsupported *sql.UnsupportedError
		handle      *sql.HandleError
		limit       *sql.LimitError
		stale       *sql.StaleError
		cancelled   *sql.CancelledError
	)
	switch {
	case errors.As(err, &query):
		return kindCodes[query.Kind]
	case errors.As(err, &ambiguous), errors.As(err, &request):
		return codes.InvalidArgument
	case errors.As(err, &unsupported), errors.Is(err, engine.ErrNoSQL):
		return codes.Unimplemented
	case errors.As(err, &handle):
		return codes.NotFound
	case errors.As(err, &limit):
		return codes.ResourceExhausted
	case errors.As(err, &stale):
		return codes.FailedPrecondition
	case errors.As(err, &cancelled):
		return codes.Canceled
	case errors.Is(err, sql.ErrClosed), errors.Is(err, engine.ErrClosed):
		return codes.Unavailable
	}
	return codes.Internal
}

// kindCodes are the codes of DuckDB's errors. A denied statement is InvalidArgument, since no
// client may run it.
var kindCodes = map[duck.Kind]codes.Code{
	duck.Internal: codes.Internal, duck.Syntax: codes.InvalidArgument, duck.Name: codes.InvalidArgument,
	duck.Type:  codes.InvalidArgument,
	duck.Value: codes.InvalidArgument, duck.Denied: codes.InvalidArgument, duck.Memory: codes.ResourceExhausted,
	duck.Interrupted: codes.Canceled, duck.Unsupported: codes.Unimplemented,
}

// codeNames are the names of codes in metrics and in the audit log, as gRPC spells them.
var codeNames = map[codes.Code]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

// codeNamed returns the code with a name. An unknown name gives Internal.
func codeNamed(name string) codes.Code {
	for code, n := range codeNames {
		if n == name {
			return code
		}
	}
	return codes.Internal
}

// statusClientClosed is the status of a request whose client has left. Only logs have it.
const statusClientClosed = 499

// httpStatuses are the statuses of HTTP for codes (google.rpc.Code has the same).
var httpStatuses = map[codes.Code]int{
	codes.Canceled: statusClientClosed, codes.InvalidArgument: http.StatusBadRequest,
	codes.DeadlineExceeded: http.StatusGatewayTimeout, codes.NotFound: http.StatusNotFound,
	codes.AlreadyExists: http.StatusConflict, codes.PermissionDenied: http.StatusForbidden,
	codes.ResourceExhausted: http.StatusTooManyRequests, codes.FailedPrecondition: http.StatusUnprocessableEntity,
	codes.Aborted: http.StatusConflict, codes.OutOfRange: http.StatusBadRequest,
	codes.Unimplemented: http.StatusNotImplemented, codes.Unavailable: http.StatusServiceUnavailable,
	codes.Unauthenticated: http.StatusUnauthorized,
}

// httpStatusOf returns the status of HTTP and the name of the code for an error. A malformed file, and
// one that is too large, is 422: the request is right, and waiting does not help.
func httpStatusOf(err error) (httpStatus int, code string) {
	of := codeOf(err)
	var parse *readers.ParseError
	var large *readers.LimitError
	var query *engine.Error
	switch {
	case of == codes.InvalidArgument && errors.As(err, &parse), of == codes.ResourceExhausted && errors.As(err, &large),
		errors.As(err, &query) && query.Kind == duck.Memory:
		return http.StatusUnprocessableEntity, codeNames[of]
	}
	if s, ok := httpStatuses[of]; ok {
		return s, codeNames[of]
	}
	return http.StatusInternalServerError, codeNames[of]
}

// lostPeer reports whether the error of a forwarded call means that it did not reach the other
// replica, or lost it, and returns the text of the error.
func lostPeer(err error) (text string, lost bool) {
	s := status.Convert(err)
	return s.Message(), s.Code() == codes.Unavailable
}

// isBusy reports whether an error means that a limit is reached.
func isBusy(err error) bool { return codeOf(err) == codes.ResourceExhausted }

// isServerError reports whether a code means a fault of the server.
func isServerError(c codes.Code) bool { return c == codes.Internal || c == codes.Unknown }

// statusError converts the error of a handler for the entry name to a status.
func (s *service) statusError(name string, err error) error {
	if err == nil {
		return nil
	}
	return status.Error(codeOf(err), s.clientText(name, err))
}

// clientText returns the text of an error for a client, without paths of the server's file system.
func (s *service) clientText(name string, err error) string {
	return excerpt.Clip(s.cfg.Catalog.WithoutPaths(messageOf(name, err)), maxMessageText)
}

// refusal is the status of a call that is refused before its handler runs.
func refusal(err error) error { return status.Error(codeOf(err), err.Error()) }

// statusWriter is the stream of a call in gRPC's transport.
type statusWriter interface{ WriteStatus(s *status.Status) error }

// writeStatus ends a stream with the status of an error.
func writeStatus(s statusWriter, err error) {
	_ = s.WriteStatus(status.New(codeOf(err), excerpt.Clip(err.Error(), maxMessageText))) // the client may have left
}

// messageOf returns the text of err, without paths of the server's file system.
func messageOf(name string, err error) string {
	var panicked *panicError
	var path *fs.PathError
	var query *engine.Error
	var filter *restrict.FilterError
	var request *requestError
	rpc, isRPC := status.FromError(err)
	switch {
	case errors.As(err, &request):
		return err.Error()
	case errors.As(err, &panicked):
		return "a defect of the server, which goes on; its log has the details"
	case isRPC:
		return rpc.Message()
	case errors.As(err, &query) && query.Kind == duck.Memory:
		return fmt.Sprintf("%v (the limits are those of --sql-memory and --sql-spill-bytes)", err)
	case errors.As(err, &filter): // it shows the place itself
		return err.Error()
	case errors.As(err, &query) && query.Position >= 0:
		return fmt.Sprintf("byte %d of the query: %v", query.Position, err)
	case errors.As(err, &path) && errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s: the server may not %s the file: let the user that runs it read it", name, path.Op)
	case errors.As(err, &path) && errors.Is(err, source.ErrChanged):
		return fmt.Sprintf("%s: %v (%s: %v)", name, source.ErrChanged, path.Op, path.Err)
	case errors.As(err, &path):
		return fmt.Sprintf("%s: %s: %v", name, path.Op, path.Err)
	}
	return err.Error()
}
