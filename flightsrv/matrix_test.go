//go:build cgo && linux && (amd64 || arm64)

package flightsrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/grants"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/readers/all"
)

// The matrix: each call × each role × each form of a name. Hidden names contain "zq", and their
// files contain columns and values with "zcolumn" and "zvalue". Each hidden name has a twin with
// "zn" in place of "zq" that does not exist. For a caller that may not describe an entry, both give
// the same bytes.

// workerOfTests has the binary of the tests run DuckDB.
const workerOfTests = "VIBEFLIGHT_TEST_WORKER=1"

func TestMain(m *testing.M) {
	if name, value, _ := strings.Cut(workerOfTests, "="); os.Getenv(name) == value {
		if err := engine.ServeWorker(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bearer is an Authenticator that believes the name in the header: "Bearer NAME".
type bearer struct{}

func (bearer) Authenticate(ctx context.Context) (*auth.Principal, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, v := range md.Get("authorization") {
		if name, ok := strings.CutPrefix(v, "Bearer "); ok {
			return &auth.Principal{Name: name}, nil
		}
	}
	return nil, &auth.Error{Reason: "no credential"}
}

func (b bearer) Handshake(ctx context.Context) (*auth.Principal, string, error) {
	p, err := b.Authenticate(ctx)
	if err != nil {
		return nil, "", err
	}
	return p, "Bearer " + p.Name, nil
}

func (bearer) Watch(ctx context.Context, _ *auth.Principal) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

const matrixPolicy = `
[[rules]]
user = "root"
privileges = ["describe", "read", "sql", "write", "admin"]

[[rules]]
user = "none"
privileges = []

[[rules]]
user = "/(describe|read|sql|write|admin)/"
name = "{zqnone*,zqnone*/**}"
privileges = []
` + "%s" + `
[[rules]]
user = "admin"
name = ""
privileges = ["admin", "read"]

[[rules]]
name = "public.csv"
privileges = ["read", "sql"]
`

// matrixRoles are the users of the matrix, each with one privilege on the hidden entries. "other" has
// a privilege on another entry.
var matrixRoles = []string{"none", "other", "describe", "read", "sql", "write", "admin"}

func policyOf() string {
	var rules strings.Builder
	for _, p := range []string{"describe", "read", "sql", "write", "admin"} {
		fmt.Fprintf(&rules, "\n[[rules]]\nuser = %q\nname = \"{zq*,zq*/**,w/zq*}\"\nprivileges = [%q]\n", p, p)
	}
	return fmt.Sprintf(matrixPolicy, rules.String())
}

// may reports whether a role has a privilege on the hidden entries.
func may(role string, p access.Privilege) bool {
	return role == p.String() || p == access.Describe && (role == "read" || role == "sql")
}

const (
	hiddenCSV = "zcolumn,n\nzvalue1,1\nzvalue2,2\n"
	hiddenKML = `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Folder><name>zqlayer</name><Placemark><name>zvalue</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>
<Folder><name>zqother</name><Placemark><name>zvalue</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>
</Document></kml>`
	brokenJSON = `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"zcolumn":1},"geometry":{"type":"zvalue","coordinates":[]}}]}`
)

// matrixServer serves the hidden entries.
type matrixServer struct {
	*fixture
	policy string // path of the file
}

func serveMatrix(t *testing.T, workers int) *matrixServer {
	t.Helper()
	return serveMatrixOf(t, workers, policyOf(), matrixContent{hiddenCSV, hiddenKML, brokenJSON})
}

// matrixContent is what the files of a matrixServer contain.
type matrixContent struct{ csv, kml, broken string }

func serveMatrixOf(t *testing.T, workers int, policy string, content matrixContent) *matrixServer {
	t.Helper()
	files, path := writeMatrix(t, policy, content)
	return startMatrix(t, workers, files, path)
}

// writeMatrix writes the files of a matrixServer, and returns the catalog of them and the path of the
// policy.
func writeMatrix(t *testing.T, policy string, content matrixContent) (of catalog.Config, policyPath string) {
	t.Helper()
	dir, other, stored := t.TempDir(), t.TempDir(), t.TempDir()
	policyPath = filepath.Join(t.TempDir(), "grants.toml")
	for path, text := range map[string]string{
		filepath.Join(dir, "public.csv"):           "id\n1\n2\n",
		filepath.Join(dir, "zqfile.csv"):           content.csv,
		filepath.Join(dir, "zqdir/inner.csv"):      content.csv,
		filepath.Join(dir, "zqmap.kml"):            content.kml,
		filepath.Join(dir, "zqset-files/zqm1.csv"): content.csv,
		filepath.Join(dir, "zqset-files/zqm2.csv"): content.csv,
		filepath.Join(dir, "zqbroken.geojson"):     content.broken,
		filepath.Join(dir, "zqnone.csv"):           content.csv,
		filepath.Join(other, "a.csv"):              content.csv,
		policyPath:                                 policy,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if modified := time.Unix(1_700_000_000, 0); path != policyPath { // the same in each server
			if err := os.Chtimes(path, modified, modified); err != nil {
				t.Fatal(err)
			}
		}
	}
	return catalog.Config{
		Roots:    []catalog.Root{{Dir: dir}, {Alias: "zqroot", Dir: other}},
		Datasets: []catalog.Dataset{{Name: "zqset", Files: []string{filepath.Join(dir, "zqset-files/*.csv")}}},
		Writable: &catalog.Root{Alias: "w", Dir: stored}, Formats: all.Formats(), Restricted: true,
	}, policyPath
}

// startMatrix starts a server over the files of writeMatrix.
func startMatrix(t *testing.T, workers int, of catalog.Config, policy string, change ...func(*Config)) *matrixServer {
	t.Helper()
	m := &matrixServer{policy: policy}
	rules, err := grants.Open(m.policy, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	m.fixture = serveCatalog(t, nil, of, append([]func(*Config){func(c *Config) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.Open(engine.Config{
			Catalog: c.Catalog, Threads: 1, Workers: workers, Command: []string{exe}, Env: []string{workerOfTests},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		c.SQL, c.Login, c.Grants = sql.Of(e), bearer{}, rules
	}}, change...)...)
	return m
}

// as returns the context of a call of a user.
func as(ctx context.Context, user string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+user)
}

// answer is everything that a call sends back.
type answer struct {
	code  codes.Code
	bytes string
}

func (a answer) String() string { return fmt.Sprintf("%v %q", a.code, a.bytes) }

// collect is an answer while it comes.
type collect struct {
	b        strings.Builder
	hdr, trl metadata.MD
}

func (c *collect) options() []grpc.CallOption {
	return []grpc.CallOption{grpc.Header(&c.hdr), grpc.Trailer(&c.trl)}
}

// add appends a message without its random parts.
func (c *collect) add(m proto.Message) {
	m = proto.Clone(m)
	switch m := m.(type) {
	case *flight.FlightInfo:
		clearTickets(m)
	case *flight.PollInfo:
		clearTickets(m.GetInfo())
		m.ExpirationTime = nil
	case *flight.ActionType:
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		c.b.WriteString(err.Error())
	}
	c.b.Write(b)
}

func clearTickets(info *flight.FlightInfo) {
	for _, e := range info.GetEndpoint() {
		if strings.Contains(string(e.GetTicket().GetTicket()), "TicketStatementQuery") {
			e.Ticket = nil
		}
	}
}

func (c *collect) end(err error) answer {
	for _, md := range []metadata.MD{c.hdr, c.trl} {
		for _, k := range slices.Sorted(maps.Keys(md)) {
			fmt.Fprintf(&c.b, "%s=%q\n", k, md[k])
		}
	}
	if err != nil {
		s := status.Convert(err)
		fmt.Fprintf(&c.b, "%s %v", s.Message(), s.Proto().GetDetails())
	}
	return answer{status.Code(err), c.b.String()}
}

// unary is the answer of a call with one message.
func unary[T proto.Message](call func(...grpc.CallOption) (T, error)) answer {
	var c collect
	m, err := call(c.options()...)
	if err == nil {
		c.add(m)
	}
	return c.end(err)
}

// streamed is the answer of a call with many messages.
func streamed[T proto.Message](open func(...grpc.CallOption) (interface{ Recv() (T, error) }, error)) answer {
	var c collect
	s, err := open(c.options()...)
	if err != nil {
		return c.end(err)
	}
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return c.end(nil)
		}
		if err != nil {
			return c.end(err)
		}
		c.add(m)
	}
}

// packed encodes a message as Flight SQL sends it.
func packed(m proto.Message) []byte {
	a, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		panic(err)
	}
	return b
}

// rpc are the calls of a client.
type rpc struct {
	ctx context.Context
	c   flight.Client
}

func (r rpc) info(d *flight.FlightDescriptor) answer {
	return unary(func(o ...grpc.CallOption) (*flight.FlightInfo, error) { return r.c.GetFlightInfo(r.ctx, d, o...) })
}

func (r rpc) schema(d *flight.FlightDescriptor) answer {
	return unary(func(o ...grpc.CallOption) (*flight.SchemaResult, error) { return r.c.GetSchema(r.ctx, d, o...) })
}

func (r rpc) poll(d *flight.FlightDescriptor) answer {
	return unary(func(o ...grpc.CallOption) (*flight.PollInfo, error) { return r.c.PollFlightInfo(r.ctx, d, o...) })
}

func (r rpc) list(criteria string) answer {
	return streamed(func(o ...grpc.CallOption) (interface {
		Recv() (*flight.FlightInfo, error)
	}, error,
	) {
		return r.c.ListFlights(r.ctx, &flight.Criteria{Expression: []byte(criteria)}, o...)
	})
}

func (r rpc) get(ticket []byte) answer {
	return streamed(func(o ...grpc.CallOption) (interface {
		Recv() (*flight.FlightData, error)
	}, error,
	) {
		return r.c.DoGet(r.ctx, &flight.Ticket{Ticket: ticket}, o...)
	})
}

func (r rpc) act(name string, body []byte) answer {
	return streamed(func(o ...grpc.CallOption) (interface {
		Recv() (*flight.Result, error)
	}, error,
	) {
		return r.c.DoAction(r.ctx, &flight.Action{Type: name, Body: body}, o...)
	})
}

func (r rpc) actions() answer {
	return streamed(func(o ...grpc.CallOption) (interface {
		Recv() (*flight.ActionType, error)
	}, error,
	) {
		return r.c.ListActions(r.ctx, &flight.Empty{}, o...)
	})
}

func (r rpc) put(d *flight.FlightDescriptor) answer {
	var c collect
	s, err := r.c.DoPut(r.ctx, c.options()...)
	if err != nil {
		return c.end(err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int32Builder).Append(1)
	rec := b.NewRecord()
	defer rec.Release()
	w := flight.NewRecordWriter(s, ipc.WithSchema(schema))
	w.SetFlightDescriptor(d)
	_ = w.Write(rec) // the answer says what is wrong
	_ = w.Close()
	_ = s.CloseSend()
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return c.end(nil)
		}
		if err != nil {
			return c.end(err)
		}
		c.add(m)
	}
}

func (r rpc) exchange(command string) answer {
	var c collect
	s, err := r.c.DoExchange(r.ctx, c.options()...)
	if err != nil {
		return c.end(err)
	}
	_ = s.Send(&flight.FlightData{FlightDescriptor: cmdOf(command)})
	_ = s.CloseSend()
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return c.end(nil)
		}
		if err != nil {
			return c.end(err)
		}
		c.add(m)
	}
}

// query runs a query, and returns the error or its rows.
func (r rpc) query(text string) answer {
	return r.command(&pb.CommandStatementQuery{Query: text})
}

// command runs a command of Flight SQL.
func (r rpc) command(m proto.Message) answer {
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: packed(m)}
	info, err := r.c.GetFlightInfo(r.ctx, d)
	if err != nil {
		return r.info(d)
	}
	first := unary(func(...grpc.CallOption) (*flight.FlightInfo, error) { return info, nil })
	rows := r.get(info.GetEndpoint()[0].GetTicket().GetTicket())
	return answer{rows.code, first.bytes + rows.bytes}
}

func (r rpc) prepare(query string) answer {
	a := r.act("CreatePreparedStatement", packed(&pb.ActionCreatePreparedStatementRequest{Query: query}))
	if a.code == codes.OK { // the handle is random
		a.bytes = a.bytes[strings.Index(a.bytes, "CreatePreparedStatementResult"):]
	}
	return a
}

// matrixForm is a form of a hidden name.
type matrixForm struct {
	what, name string
	exists     bool // for Flight
	schema     string
	table      string // as SQL names it
}

var matrixForms = []matrixForm{
	{"exact", "zqfile.csv", true, "main", "zqfile.csv"},
	{"folder", "zqdir/inner.csv", true, "zqdir", "inner.csv"},
	{"quoted", `"zqfile.csv"`, false, "main", `"zqfile.csv"`},
	{"other case", "ZQFILE.CSV", false, "main", "ZQFILE.CSV"},
	{"stem", "zqfile", false, "main", "zqfile"},
	{"stem in a folder", "zqdir/inner", false, "zqdir", "inner"},
	{"near miss", "zqfile.csx", false, "main", "zqfile.csx"},
	{"layered file", "zqmap.kml", true, "main", "zqmap.kml"},
	{"layer", "zqmap.kml#zqother", true, "main", "zqmap.kml#zqother"},
	{"unknown layer", "zqmap.kml#zqthird", false, "main", "zqmap.kml#zqthird"},
	{"dataset", "zqset", true, "main", "zqset"},
	{"member of a dataset", "zqset-files/zqm1.csv", true, "zqset-files", "zqm1.csv"},
	{"root with an alias", "zqroot/a.csv", true, "zqroot", "a.csv"},
	{"below a file", "zqfile.csv/x.csv", false, "main", "zqfile.csv/x.csv"},
	{"out of the root", "../zqfile.csv", false, "main", "../zqfile.csv"},
	{"file that can't be read", "zqbroken.geojson", true, "main", "zqbroken.geojson"},
	{"without a rule", "zqnone.csv", true, "main", "zqnone.csv"},
}

// like returns a name that is hidden if and only if that of the form is.
func (f matrixForm) like(name string) string {
	for _, prefix := range []string{"zn", "zqnone", "zqmome"} {
		if strings.Contains(strings.ToLower(f.name), prefix) {
			return prefix + name
		}
	}
	return "zq" + name
}

// twin returns the text with names that do not exist. That of a hidden name among others that are
// not is as close to these.
func twin(s string) string {
	if strings.Contains(s, "zqnone") {
		return strings.ReplaceAll(s, "zqnone", "zqmome")
	}
	return strings.NewReplacer("zq", "zn", "ZQ", "ZN").Replace(s)
}

// hints are the names of other entries in an answer, and the length that they give it.
var hints = regexp.MustCompile(`; the closest (?:is|are) (?:\\?"[^"\\]*\\?"(?:, )?)+|Content-Length: \["\d+"\]\n`)

// sameAnswer reports whether an answer about a hidden name is the one about a name that does not
// exist. Both have hints if the caller may know other entries: those closest to what was asked.
func sameAnswer(got, want string, hints *regexp.Regexp) bool {
	if hints != nil {
		got, want = hints.ReplaceAllString(got, ""), hints.ReplaceAllString(want, "")
	}
	return got == want
}

// hintsFor returns what sameAnswer leaves out for a role that may know other entries than a hidden one.
func hintsFor(role string, hidden bool) *regexp.Regexp {
	if hidden && may(role, access.Describe) {
		return hints
	}
	return nil
}

// matrixCall is a call with the name of an entry.
type matrixCall struct {
	what  string
	needs access.Privilege
	sql   bool // it resolves names as SQL does
	store bool // it stores or removes a table: not run by those that may
	run   func(r rpc, f matrixForm) answer
}

// folder returns the form's schema, or a name that no schema has.
func (f matrixForm) folder() string { return strings.Replace(f.schema, "main", f.like("main"), 1) }

// schemaOption sets the schema of a session.
func schemaOption(name string) []byte {
	b, err := proto.Marshal(&flight.SetSessionOptionsRequest{SessionOptions: map[string]*pb.SessionOptionValue{
		"schema": {OptionValue: &pb.SessionOptionValue_StringValue{StringValue: name}},
	}})
	if err != nil {
		panic(err)
	}
	return b
}

// ofStatement is a descriptor or a ticket of a prepared statement.
func ofStatement(handle []byte) string {
	return string(packed(&pb.CommandPreparedStatementQuery{PreparedStatementHandle: handle}))
}

func endpointOf(ticket []byte) *flight.FlightEndpoint {
	return &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: ticket}}
}

// ofQuery is a descriptor of a query.
func ofQuery(query string) *flight.FlightDescriptor {
	return cmdOf(string(packed(&pb.CommandStatementQuery{Query: query})))
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func jsonName(name string) []byte { return fmt.Appendf(nil, `{"name":%q}`, name) }

var matrixCalls = []matrixCall{
	{"GetFlightInfo path", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.info(pathOf(f.name))
	}},
	{"GetFlightInfo parts", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.info(pathOf(strings.Split(f.name, "/")...))
	}},
	{"GetFlightInfo command", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.info(cmdOf(f.name))
	}},
	{"GetFlightInfo JSON", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.info(cmdOf(string(jsonName(f.name))))
	}},
	{"GetFlightInfo version", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.info(cmdOf(fmt.Sprintf(`{"name":%q,"version":"0123456789abcdef"}`, f.name)))
	}},
	{"GetFlightInfo column", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.info(cmdOf(fmt.Sprintf(`{"name":%q,"columns":["zcolumm"]}`, f.name)))
	}},
	{"GetSchema path", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.schema(pathOf(f.name))
	}},
	{"GetSchema JSON", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.schema(cmdOf(string(jsonName(f.name))))
	}},
	{"PollFlightInfo path", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.poll(pathOf(f.name))
	}},
	{"PollFlightInfo id", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.poll(cmdOf(fmt.Sprintf(`{"name":%q,"poll":"ABCDEFGHIJKLMNOPQRSTUVWXYZ"}`, f.name)))
	}},
	{"DoGet name", access.Read, false, false, func(r rpc, f matrixForm) answer { return r.get([]byte(f.name)) }},
	{"DoGet JSON", access.Read, false, false, func(r rpc, f matrixForm) answer { return r.get(jsonName(f.name)) }},
	{"DoGet box", access.Read, false, false, func(r rpc, f matrixForm) answer {
		return r.get(fmt.Appendf(nil, `{"name":%q,"bbox":[0,0,9,9]}`, f.name))
	}},
	{"DoGet format", access.Read, false, false, func(r rpc, f matrixForm) answer {
		return r.get(fmt.Appendf(nil, `{"name":%q,"options":{"format":"csv"}}`, f.name))
	}},
	{"ListFlights", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.list(fmt.Sprintf(`{"prefix":%q}`, f.name))
	}},
	{"DoPut path", access.Write, false, true, func(r rpc, f matrixForm) answer { return r.put(pathOf(f.name)) }},
	{"DoPut stored", access.Write, false, true, func(r rpc, f matrixForm) answer {
		return r.put(pathOf("w", f.like("stored")))
	}},
	{"ingest", access.Write, false, true, func(r rpc, f matrixForm) answer {
		return r.put(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: packed(&pb.CommandStatementIngest{
			Table:                  f.name,
			TableDefinitionOptions: &pb.CommandStatementIngest_TableDefinitionOptions{IfNotExist: 1, IfExists: 1},
		})})
	}},
	{"drop", access.Write, false, true, func(r rpc, f matrixForm) answer { return r.act("drop", jsonName(f.name)) }},
	{"evict", access.Admin, false, false, func(r rpc, f matrixForm) answer {
		return r.act("evict", jsonName(f.name))
	}},
	{"describe", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		return r.act("describe", []byte(f.name))
	}},
	{"CancelFlightInfo", access.Describe, false, false, func(r rpc, f matrixForm) answer {
		b, _ := proto.Marshal(&flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{
			FlightDescriptor: cmdOf(fmt.Sprintf(`{"name":%q,"poll":"ABCDEFGHIJKLMNOPQRSTUVWXYZ"}`, f.name)),
		}})
		return r.act(flight.CancelFlightInfoActionType, b)
	}},
	{"RenewFlightEndpoint", access.Read, false, false, func(r rpc, f matrixForm) answer {
		b, _ := proto.Marshal(&flight.RenewFlightEndpointRequest{Endpoint: &flight.FlightEndpoint{
			Ticket: &flight.Ticket{Ticket: jsonName(f.name)},
		}})
		return r.act(flight.RenewFlightEndpointActionType, b)
	}},
	{"SELECT full name", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT * FROM " + quoted(f.name))
	}},
	{"SELECT schema and name", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT * FROM vibeflight." + quoted(f.schema) + "." + quoted(f.table))
	}},
	{"SELECT part of the name", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT count(*) FROM " + quoted(f.table) + " WHERE true")
	}},
	{"subquery", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT (SELECT max(n) FROM " + quoted(f.name) + ") FROM public")
	}},
	{"DESCRIBE", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("DESCRIBE " + quoted(f.name))
	}},
	{"SUMMARIZE", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SUMMARIZE " + quoted(f.name))
	}},
	{"EXPLAIN", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("EXPLAIN SELECT * FROM " + quoted(f.name))
	}},
	{"unknown column", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT zcolumm FROM " + quoted(f.name))
	}},
	{"scan function", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT * FROM vibeflight_scan('" + f.name + "')")
	}},
	{"columns by name", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.query("SELECT * FROM information_schema.columns WHERE table_name = '" + f.table + "'")
	}},
	{"CreatePreparedStatement", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.prepare("SELECT * FROM " + quoted(f.name) + " WHERE n > ?")
	}},
	{"GetSchema of a query", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.schema(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: packed(&pb.CommandStatementQuery{
			Query: "SELECT * FROM " + quoted(f.name),
		})})
	}},
	{"PollFlightInfo of a query", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.poll(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: packed(&pb.CommandStatementQuery{
			Query: "SELECT * FROM " + quoted(f.name),
		})})
	}},
	{"GetTables", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.command(&pb.CommandGetTables{TableNameFilterPattern: &f.table, IncludeSchema: true})
	}},
	{"GetDbSchemas", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.command(&pb.CommandGetDbSchemas{DbSchemaFilterPattern: proto.String(f.folder())})
	}},
	{"GetPrimaryKeys", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.command(&pb.CommandGetPrimaryKeys{Table: f.table})
	}},
	{"GetImportedKeys", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.command(&pb.CommandGetImportedKeys{Table: f.table})
	}},
	{"GetExportedKeys", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.command(&pb.CommandGetExportedKeys{Table: f.table})
	}},
	{"GetCrossReference", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.command(&pb.CommandGetCrossReference{PkTable: f.table, FkTable: f.table})
	}},
	{"update", access.SQL, true, false, func(r rpc, f matrixForm) answer {
		return r.put(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: packed(&pb.CommandStatementUpdate{
			Query: "DELETE FROM " + quoted(f.name),
		})})
	}},
	{"SetSessionOptions", access.Describe, true, false, func(r rpc, f matrixForm) answer {
		return r.act(flight.SetSessionOptionsActionType, schemaOption(f.folder()))
	}},
}

// canary matches what only the hidden files have.
var canary = regexp.MustCompile(`(?i)zq|zvalue|zcolumn`)

func TestMatrixOfNames(t *testing.T) {
	m := serveMatrix(t, 8)
	root := rpc{as(t.Context(), "root"), m.client}
	if a := root.put(pathOf("w", "zqstored")); a.code != codes.OK {
		t.Fatal(a)
	}
	for _, c := range matrixCalls { // tables, layers, statements and views are there for the others to find
		for _, f := range matrixForms {
			if !c.store {
				c.run(root, f)
			}
		}
	}
	checks := 0
	for _, role := range matrixRoles {
		r := rpc{as(t.Context(), role), m.client}
		for _, c := range matrixCalls {
			if c.store && may(role, c.needs) {
				continue
			}
			for i, f := range matrixForms {
				if testing.Short() && c.sql && i > 2 && (role == "other" || role == "write" || role == "admin") {
					continue // as "none"
				}
				checks++
				at := fmt.Sprintf("%s of %s by %s", c.what, f.what, role)
				if c.sql {
					c.run(root, f) // the DuckDB was last used by another user
				}
				got := c.run(r, f)
				hidden := f.name == "zqnone.csv"
				switch {
				case !may(role, access.Describe) && !(may(role, c.needs) && !hidden), hidden:
					other := f
					other.name, other.schema, other.table = twin(f.name), twin(f.schema), twin(f.table)
					want := c.run(r, other)
					if !sameAnswer(twin(got.bytes), want.bytes, hintsFor(role, hidden)) || got.code != want.code {
						t.Errorf("%s: %v, and for a name that does not exist %v", at, got, want)
					}
					rest := got.bytes
					asked := []string{f.like("stored"), f.like("main"), "zcolumm", f.name, f.table, f.schema}
					for _, asked := range asked {
						rest = strings.ReplaceAll(rest, strings.Trim(asked, `"`), "")
					}
					found := canary.FindString(rest)
					if hidden && may(role, access.Describe) { // hints name others
						found = regexp.MustCompile("zqnone|zvalue").FindString(rest)
					}
					if found != "" {
						t.Errorf("%s: %q in %q", at, found, rest)
					}
				case !may(role, c.needs):
					if strings.Contains(got.bytes, "zvalue") {
						t.Errorf("%s: a value in %q", at, got.bytes)
					}
					if f.exists && !c.sql && !c.store && got.code != codes.PermissionDenied {
						t.Errorf("%s: %v %q, want PermissionDenied", at, got.code, got.bytes)
					}
				case role == "describe" && strings.Contains(got.bytes, "zvalue"):
					t.Errorf("%s: a value in %q", at, got.bytes)
				}
			}
		}
	}
	t.Logf("%d checks: %d calls, %d forms of names, %d roles", checks, len(matrixCalls), len(matrixForms),
		len(matrixRoles))
}

func TestRolesMayWhatTheyMay(t *testing.T) {
	m := serveMatrix(t, 8)
	f := matrixForms[0]
	for _, c := range matrixCalls {
		if c.store || c.what == "update" || strings.Contains(c.what, "olumn") || c.what == "scan function" ||
			c.what == "GetFlightInfo version" || c.what == "DoGet box" || strings.Contains(c.what, "schema") {
			continue
		}
		for _, role := range []string{"root", c.needs.String()} {
			if a := c.run(rpc{as(t.Context(), role), m.client}, f); a.code != codes.OK {
				t.Errorf("%s by %s: %v %q", c.what, role, a.code, a.bytes)
			}
		}
	}
	for role, call := range map[string]func(r rpc) answer{
		"read": func(r rpc) answer { return r.get([]byte("zqfile.csv")) },
		"sql":  func(r rpc) answer { return r.query("SELECT * FROM zqfile") },
	} {
		if a := call(rpc{as(t.Context(), role), m.client}); !strings.Contains(a.bytes, "zvalue1") {
			t.Errorf("%s gets no rows: %v %q", role, a.code, a.bytes)
		}
	}
	write := rpc{as(t.Context(), "write"), m.client}
	for _, a := range []answer{write.put(pathOf("w", "zqnew")), write.act("drop", jsonName("w/zqnew.arrow"))} {
		if a.code != codes.OK {
			t.Errorf("write: %v %q", a.code, a.bytes)
		}
	}
}

// serverCalls concern no single entry.
var serverCalls = []struct {
	what  string
	admin bool
	run   func(r rpc) answer
}{
	{"ListFlights", false, func(r rpc) answer { return r.list("") }},
	{"ListFlights of a format", false, func(r rpc) answer { return r.list(`{"format":"csv"}`) }},
	{"ListActions", false, rpc.actions},
	{"refresh", true, func(r rpc) answer { return r.act("refresh", nil) }},
	{"stats", true, func(r rpc) answer { return r.act("stats", nil) }},
	{"unknown action", false, func(r rpc) answer { return r.act("zz", nil) }},
	{"DoExchange", true, func(r rpc) answer { return r.exchange(`{"name":"a.csv","format":"csv"}`) }},
	{"GetCatalogs", false, func(r rpc) answer { return r.command(&pb.CommandGetCatalogs{}) }},
	{"GetDbSchemas", false, func(r rpc) answer { return r.command(&pb.CommandGetDbSchemas{}) }},
	{"GetTables", false, func(r rpc) answer { return r.command(&pb.CommandGetTables{IncludeSchema: true}) }},
	{"GetTableTypes", false, func(r rpc) answer { return r.command(&pb.CommandGetTableTypes{}) }},
	{"GetSqlInfo", false, func(r rpc) answer { return r.command(&pb.CommandGetSqlInfo{}) }},
	{"GetXdbcTypeInfo", false, func(r rpc) answer { return r.command(&pb.CommandGetXdbcTypeInfo{}) }},
	{"BeginTransaction", false, func(r rpc) answer {
		return r.act("BeginTransaction", packed(&pb.ActionBeginTransactionRequest{}))
	}},
	{"BeginSavepoint", false, func(r rpc) answer {
		return r.act("BeginSavepoint", packed(&pb.ActionBeginSavepointRequest{}))
	}},
	{"EndTransaction", false, func(r rpc) answer {
		return r.act("EndTransaction", packed(&pb.ActionEndTransactionRequest{}))
	}},
	{"EndSavepoint", false, func(r rpc) answer {
		return r.act("EndSavepoint", packed(&pb.ActionEndSavepointRequest{}))
	}},
	{"Substrait", false, func(r rpc) answer {
		return r.act("CreatePreparedSubstraitPlan", packed(&pb.ActionCreatePreparedSubstraitPlanRequest{}))
	}},
	{"GetSessionOptions", false, func(r rpc) answer { return r.act(flight.GetSessionOptionsActionType, nil) }},
	{"CloseSession", false, func(r rpc) answer { return r.act(flight.CloseSessionActionType, nil) }},
	{"near miss", false, func(r rpc) answer { return r.get([]byte("public.csw")) }},
}

// serverQueries list what there is.
var serverQueries = []string{
	"SELECT * FROM information_schema.tables", "SELECT * FROM information_schema.columns",
	"SELECT * FROM information_schema.schemata", "SELECT * FROM information_schema.views",
	"SELECT * FROM duckdb_tables()", "SELECT * FROM duckdb_columns()", "SELECT * FROM duckdb_schemas()",
	"SELECT * FROM duckdb_views()", "SELECT * FROM duckdb_databases()", "SELECT * FROM duckdb_constraints()",
	"SELECT * FROM duckdb_indexes()", "SELECT * FROM duckdb_sequences()", "SELECT * FROM duckdb_types()",
	"SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_memory()",
	"SELECT * FROM system.main.duckdb_views()", "SELECT * FROM system.main.duckdb_columns()",
	"SELECT * FROM system.main.duckdb_tables()", "SELECT * FROM system.main.duckdb_schemas()",
	"SELECT * FROM duckdb_views", "SELECT * FROM duckdb_tables", "SELECT * FROM sqlite_master",
	"SELECT * FROM pg_catalog.pg_class", "SELECT * FROM pg_catalog.pg_views", "SELECT * FROM pg_catalog.pg_tables",
	"SELECT * FROM pg_catalog.pg_attribute", "SELECT * FROM pg_catalog.pg_namespace",
	"SHOW TABLES", "SHOW ALL TABLES", "SHOW DATABASES", "SHOW SCHEMAS",
	"SELECT * FROM vibeflight_scan('/tables')", "SELECT * FROM query_table('public')",
	"SELECT * FROM pragma_table_info('public')", "SELECT nothing FROM public", "SELECT * FROM publik",
	"SELECT current_schemas(true)", "SELECT * FROM sql_auto_complete('SELECT * FROM z')",
}

func TestMatrixOfTheServer(t *testing.T) {
	m := serveMatrix(t, 1)
	warm := func() {
		root := rpc{as(t.Context(), "root"), m.client}
		for _, c := range serverCalls {
			if c.what == "ListFlights" || c.what == "GetTables" {
				c.run(root)
			}
		}
		for _, f := range matrixForms {
			root.query("SELECT * FROM " + quoted(f.name))
		}
	}
	warm()
	check := func(role, what string, admin bool, got answer) {
		t.Helper()
		found := canary.FindString(got.bytes)
		if may(role, access.Describe) { // only "describe" may not read why a file can't be read
			values := map[string]string{"describe": "zvalue"}[role]
			found = regexp.MustCompile(cmp.Or(values, "zvalue1")).FindString(got.bytes)
		}
		if found != "" {
			t.Errorf("%s by %s: %q in %q", what, role, found, got.bytes)
		}
		if admin && role != "admin" && got.code != codes.PermissionDenied {
			t.Errorf("%s by %s: %v, want PermissionDenied", what, role, got.code)
		}
		if admin && role == "admin" && got.code == codes.PermissionDenied {
			t.Errorf("%s by %s: %v %q", what, role, got.code, got.bytes)
		}
	}
	for _, role := range matrixRoles {
		r := rpc{as(t.Context(), role), m.client}
		// its views are in the DuckDB that all users share
		rpc{as(t.Context(), "root"), m.client}.query("SELECT n FROM zqfile, zqdir.inner USING (n)")
		for _, c := range serverCalls {
			check(role, c.what, c.admin, c.run(r))
		}
		for _, q := range serverQueries {
			check(role, q, false, r.query(q))
		}
	}
	root := rpc{as(t.Context(), "root"), m.client}
	for _, q := range serverQueries[:2] {
		if a := root.query(q); !strings.Contains(a.bytes, "zqfile.csv") {
			t.Errorf("%s by root does not list zqfile.csv: %v", q, a.code)
		}
	}
	if a := root.query("SELECT * FROM system.main.duckdb_views()"); a.code != codes.OK {
		t.Error(a)
	}
	describe := rpc{as(t.Context(), "describe"), m.client}
	for _, a := range []answer{
		describe.query("SELECT * FROM duckdb_columns()"),
		describe.command(&pb.CommandGetTables{IncludeSchema: true}),
	} {
		if a.code != codes.OK || !strings.Contains(a.bytes, "zcolumn") {
			t.Errorf("a listing has no columns of a table that may be described: %v %q", a.code, a.bytes)
		}
	}
	a := describe.query("SELECT * FROM zqfile")
	if a.code != codes.PermissionDenied || !strings.Contains(a.bytes, `privilege "sql"`) {
		t.Errorf("SQL of a table that may be described: %v %q, want PermissionDenied", a.code, a.bytes)
	}
}

// prepared returns the handle of a prepared statement of a user.
func (m *matrixServer) prepared(t *testing.T, user, query string) []byte {
	t.Helper()
	s, err := m.client.DoAction(as(t.Context(), user), &flight.Action{
		Type: "CreatePreparedStatement", Body: packed(&pb.ActionCreatePreparedStatementRequest{Query: query}),
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var a anypb.Any
	var p pb.ActionCreatePreparedStatementResult
	if err := errors.Join(proto.Unmarshal(result.GetBody(), &a), a.UnmarshalTo(&p)); err != nil {
		t.Fatal(err)
	}
	return p.GetPreparedStatementHandle()
}

// result returns the ticket of a result of a user.
func (m *matrixServer) result(t *testing.T, user, query string) []byte {
	t.Helper()
	info, err := m.client.GetFlightInfo(as(t.Context(), user), ofQuery(query))
	if err != nil {
		t.Fatal(err)
	}
	return info.GetEndpoint()[0].GetTicket().GetTicket()
}

// Handles are those of their user. A handle of another one is like one that does not exist.
func TestHandlesOfOthers(t *testing.T) {
	m := serveMatrix(t, 8)
	root, other := rpc{as(t.Context(), "root"), m.client}, rpc{as(t.Context(), "sql"), m.client}
	prepared := m.prepared(t, "root", "SELECT * FROM zqfile WHERE n > ?")
	ticket := m.result(t, "root", "SELECT * FROM zqfile")
	none := make([]byte, len(prepared))
	noTicket := packed(&pb.TicketStatementQuery{StatementHandle: none})
	cancel := func(r rpc, ticket []byte) answer {
		b, _ := proto.Marshal(&flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{
			FlightDescriptor: cmdOf(string(ticket)),
			Endpoint:         []*flight.FlightEndpoint{endpointOf(ticket)},
		}})
		return r.act(flight.CancelFlightInfoActionType, b)
	}
	for _, c := range []struct {
		what string
		run  func(handle, ticket []byte) answer
	}{
		{"GetSchema", func(h, _ []byte) answer {
			return other.schema(cmdOf(ofStatement(h)))
		}},
		{"GetFlightInfo", func(h, _ []byte) answer {
			return other.info(cmdOf(ofStatement(h)))
		}},
		{"DoPut", func(h, _ []byte) answer {
			return other.put(cmdOf(ofStatement(h)))
		}},
		{"DoGet of a statement", func(h, _ []byte) answer {
			return other.get([]byte(ofStatement(h)))
		}},
		{"ClosePreparedStatement", func(h, _ []byte) answer {
			return other.act("ClosePreparedStatement", packed(&pb.ActionClosePreparedStatementRequest{
				PreparedStatementHandle: h,
			}))
		}},
		{"DoGet", func(_, ticket []byte) answer { return other.get(ticket) }},
		{"PollFlightInfo", func(_, ticket []byte) answer { return other.poll(cmdOf(string(ticket))) }},
		{"CancelFlightInfo", func(_, ticket []byte) answer { return cancel(other, ticket) }},
		{"CancelQuery", func(_, ticket []byte) answer {
			info, _ := proto.Marshal(&flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{endpointOf(ticket)}})
			//nolint:staticcheck // deprecated, and served
			return other.act("CancelQuery", packed(&pb.ActionCancelQueryRequest{Info: info}))
		}},
		{"RenewFlightEndpoint", func(_, ticket []byte) answer {
			b, _ := proto.Marshal(&flight.RenewFlightEndpointRequest{Endpoint: endpointOf(ticket)})
			return other.act(flight.RenewFlightEndpointActionType, b)
		}},
	} {
		got, want := c.run(prepared, ticket), c.run(none, noTicket)
		if got != want {
			t.Errorf("%s: %v, and of a handle that does not exist %v", c.what, got, want)
		}
	}
	if a := root.get(ticket); a.code != codes.OK || !strings.Contains(a.bytes, "zvalue1") {
		t.Errorf("the owner's result: %v %q", a.code, a.bytes)
	}
	if a := root.schema(cmdOf(ofStatement(prepared))); a.code != codes.OK {
		t.Errorf("the owner's statement: %v %q", a.code, a.bytes)
	}
}

// A session of another user is like one that does not exist.
func TestSessionsOfOthers(t *testing.T) {
	m := serveMatrix(t, 8)
	s, err := m.client.DoAction(as(t.Context(), "root"), &flight.Action{
		Type: flight.SetSessionOptionsActionType, Body: schemaOption("zqdir"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	header, err := s.Header()
	if err != nil || len(header.Get("set-cookie")) != 1 {
		t.Fatal(header, err)
	}
	cookie := strings.Split(header.Get("set-cookie")[0], ";")[0]
	with := func(user string) rpc {
		return rpc{metadata.AppendToOutgoingContext(as(t.Context(), user), "cookie", cookie), m.client}
	}
	for _, q := range []func(r rpc) answer{
		func(r rpc) answer { return r.act(flight.GetSessionOptionsActionType, nil) },
		func(r rpc) answer { return r.query("SELECT * FROM inner") },
	} {
		if a := q(with("sql")); a.code != codes.NotFound || canary.MatchString(a.bytes) {
			t.Errorf("another's session: %v %q", a.code, a.bytes)
		}
	}
	with("sql").act(flight.CloseSessionActionType, nil)
	a := with("root").act(flight.GetSessionOptionsActionType, nil)
	if a.code != codes.OK || !strings.Contains(a.bytes, "zqdir") {
		t.Errorf("the owner's session: %v %q", a.code, a.bytes)
	}
}

// A handle that is used after the rights have changed fails as if it were made anew.
func TestHandlesAfterAChangeOfRights(t *testing.T) {
	m := serveMatrix(t, 8)
	user := rpc{as(t.Context(), "sql"), m.client}
	ticket := m.result(t, "sql", "SELECT * FROM zqfile")
	statement := ofStatement(m.prepared(t, "sql", "SELECT * FROM zqfile"))
	if err := os.WriteFile(m.policy, []byte("[[rules]]\nuser = 'root'\nprivileges = ['sql']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); user.info(pathOf("zqfile.csv")).code != codes.NotFound; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > time.Second {
			t.Fatal("the policy has no effect within a second")
		}
	}
	for what, got := range map[string]answer{
		"DoGet":                user.get(ticket),
		"DoGet of a statement": user.get([]byte(statement)),
		"GetSchema":            user.schema(cmdOf(statement)),
		"GetFlightInfo":        user.info(cmdOf(statement)),
	} {
		if got.code != codes.NotFound || regexp.MustCompile("zvalue|zcolumn").MatchString(got.bytes) {
			t.Errorf("%s after the change: %v %q", what, got.code, got.bytes)
		}
	}
}

func TestGrantsNeedALogin(t *testing.T) {
	c, err := catalog.Open(t.Context(), catalog.Config{
		Roots: []catalog.Root{{Dir: t.TempDir()}}, Formats: all.Formats(), Restricted: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, err = New(Config{Catalog: c, Grants: grants.TokenBounds{}})
	if err == nil || !strings.Contains(err.Error(), "login method") {
		t.Errorf("%v, want an error", err)
	}
	if _, err := engine.Open(engine.Config{Catalog: c}); err == nil {
		t.Error("SQL with grants and without workers is no error")
	}
}
