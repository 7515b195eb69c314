package flightsrv

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/all"
)

// serveWritable serves files, and a folder in which clients may store, which it gives.
func serveWritable(t testing.TB, files map[string]string, of catalog.Config) (*fixture, string) {
	t.Helper()
	dir := t.TempDir()
	of.Formats, of.Writable = all.Formats(), &catalog.Root{Dir: dir}
	return serveCatalog(t, files, of), dir
}

// sample is a table of n rows, from row first on.
func sample(t testing.TB, first, n int) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	}, nil))
	defer b.Release()
	for i := first; i < first+n; i++ {
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		l := b.Field(2).(*array.ListBuilder)
		if i%3 == 0 {
			b.Field(1).AppendNull()
			l.AppendNull()
			continue
		}
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat("ü", i%5))
		l.Append(true)
		l.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{int64(i), -1}, nil)
	}
	return b.NewRecord()
}

// messages are those of a table in batches.
func messages(t testing.TB, recs ...arrow.Record) []*flight.FlightData {
	t.Helper()
	k := &messageSink{}
	w := flight.NewRecordWriter(k, ipc.WithSchema(recs[0].Schema()))
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return k.sent
}

type messageSink struct{ sent []*flight.FlightData }

func (k *messageSink) Send(d *flight.FlightData) error {
	k.sent = append(k.sent, proto.Clone(d).(*flight.FlightData))
	return nil
}

// put sends messages, the first of which gets the descriptor, and gives the answer.
func (f *fixture) put(ctx context.Context, d *flight.FlightDescriptor, sent []*flight.FlightData) (
	*flight.PutResult, error,
) {
	stream, err := f.client.DoPut(ctx)
	if err != nil {
		return nil, err
	}
	for i, m := range sent {
		if i == 0 {
			m = proto.Clone(m).(*flight.FlightData)
			m.FlightDescriptor = d
		}
		if stream.Send(m) != nil {
			break // the answer says why
		}
	}
	_ = stream.CloseSend()
	answer, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	_, err = stream.Recv()
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return answer, nil
}

// filesBelow are those of a folder, hidden ones too.
func filesBelow(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestPut(t *testing.T) {
	f, dir := serveWritable(t, map[string]string{"read.csv": "a\n1\n"}, catalog.Config{})
	tests := []struct {
		name  string
		d     *flight.FlightDescriptor
		rows  []int // first row and number of rows of each batch
		entry string
		have  int64 // rows that the entry has then
		err   codes.Code
		words []string
	}{
		{name: "new", d: pathOf("a"), rows: []int{0, 3, 3, 70_000}, entry: "a.arrow", have: 70_003},
		{
			name: "there already", d: pathOf("a.arrow"), rows: []int{0, 1}, err: codes.AlreadyExists,
			words: []string{"a.arrow", "replace"},
		},
		{name: "replaced", d: cmdOf(`{"name":"a","mode":"replace"}`), rows: []int{0, 5}, entry: "a.arrow", have: 5},
		{name: "appended", d: cmdOf(`{"name":"a","mode":"append"}`), rows: []int{5, 2}, entry: "a.arrow", have: 7},
		{
			name: "appended or made", d: cmdOf(`{"name":"b","mode":"create_append"}`), rows: []int{0, 2},
			entry: "b.arrow", have: 2,
		},
		{
			name: "appended to nothing", d: cmdOf(`{"name":"c","mode":"append"}`), rows: []int{0, 2},
			err: codes.NotFound, words: []string{"c.arrow"},
		},
		{name: "in a new folder", d: pathOf("x", "y", "z.arrow"), rows: []int{0, 2}, entry: "x/y/z.arrow", have: 2},
		{name: "without rows", d: pathOf("empty"), rows: []int{0, 0}, entry: "empty.arrow"},
		{name: "escaped", d: pathOf("50%25.arrow"), rows: []int{0, 1}, entry: "50%25.arrow", have: 1},
		{
			name: "below a file", d: pathOf("a.arrow", "b"), rows: []int{0, 1}, err: codes.InvalidArgument,
			words: []string{"folder"},
		},
		{name: "of a folder", d: cmdOf(`{"name":"x","mode":"replace"}`), rows: []int{0, 1}, entry: "x.arrow", have: 1},
		{name: "outside", d: pathOf("../a"), rows: []int{0, 1}, err: codes.InvalidArgument, words: []string{"../a"}},
		{name: "absolute", d: pathOf("/tmp/a"), rows: []int{0, 1}, err: codes.InvalidArgument},
		{name: "hidden", d: pathOf(".a.arrow"), rows: []int{0, 1}, err: codes.InvalidArgument},
		{name: "a layer", d: pathOf("a#b.arrow"), rows: []int{0, 1}, err: codes.InvalidArgument},
		{
			name: "another format", d: pathOf("a.parquet"), rows: []int{0, 1}, err: codes.InvalidArgument,
			words: []string{".arrow"},
		},
		{name: "no name", d: pathOf(), rows: []int{0, 1}, err: codes.InvalidArgument, words: []string{`"name"`}},
		{
			name: "no such mode", d: cmdOf(`{"name":"a","mode":"merge"}`), rows: []int{0, 1},
			err: codes.InvalidArgument, words: []string{`"mode"`, "merge"},
		},
		{
			name: "unknown field", d: cmdOf(`{"name":"a","overwrite":"yes"}`), rows: []int{0, 1},
			err: codes.InvalidArgument, words: []string{`"overwrite"`},
		},
		{
			name: "too long", d: pathOf(strings.Repeat("a", 300)), rows: []int{0, 1}, err: codes.InvalidArgument,
			words: []string{"long"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var recs []arrow.Record
			for i := 0; i < len(tt.rows); i += 2 {
				recs = append(recs, sample(t, tt.rows[i], tt.rows[i+1]))
			}
			before := filesBelow(t, dir)
			answer, err := f.put(t.Context(), tt.d, messages(t, recs...))
			if tt.err != codes.OK {
				wantStatus(t, err, tt.err, tt.words...)
				if now := filesBelow(t, dir); !slices.Equal(now, before) {
					t.Errorf("files %q, were %q", now, before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var stored catalog.WriteResult
			if err := json.Unmarshal(answer.AppMetadata, &stored); err != nil || stored.Name != tt.entry ||
				stored.Bytes == 0 {
				t.Errorf("answer %s, %v", answer.AppMetadata, err)
			}
			if !slices.ContainsFunc(entries(f.catalog, "arrow"), func(e *catalog.Entry) bool {
				return e.Name == tt.entry
			}) {
				t.Errorf("%s is not listed", tt.entry)
			}
			g, err := f.get(t, tt.entry)
			if err != nil || g.rows != tt.have {
				t.Fatalf("%d rows of %s, want %d: %v", g.rows, tt.entry, tt.have, err)
			}
			for i, n := range g.numbers {
				if n != int32(i) {
					t.Fatalf("row %d is %d", i, n)
				}
			}
		})
	}
}

// TestPutNextToReadOnly stores nothing under a name of a folder that is not writable, and removes
// nothing from there.
func TestPutNextToReadOnly(t *testing.T) {
	rec := sample(t, 0, 3)
	f, dir := serveWritable(t, map[string]string{"read.csv": "a\n1\n"}, catalog.Config{})
	var file strings.Builder
	w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	f.write(t, "mine.arrow", file.String())
	for _, mode := range []string{"create", "replace", "append", "create_append"} {
		_, err := f.put(t.Context(), cmdOf(`{"name":"mine","mode":"`+mode+`"}`), messages(t, rec))
		wantStatus(t, err, codes.AlreadyExists, "mine.arrow", "not writable")
	}
	_, err := f.act(t, "drop", "mine.arrow")
	wantStatus(t, err, codes.PermissionDenied, "mine.arrow")
	if left := filesBelow(t, dir); len(left) > 0 {
		t.Errorf("files %q", left)
	}
}

func (f *fixture) act(t testing.TB, name, body string) (string, error) {
	t.Helper()
	stream, err := f.client.DoAction(t.Context(), &flight.Action{Type: name, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := stream.Recv()
	if err != nil {
		return "", err
	}
	return string(r.Body), nil
}

func TestDrop(t *testing.T) {
	f, dir := serveWritable(t, nil, catalog.Config{})
	if _, err := f.put(t.Context(), pathOf("x/a"), messages(t, sample(t, 0, 3))); err != nil {
		t.Fatal(err)
	}
	if g, err := f.get(t, "x/a.arrow"); err != nil || g.rows != 3 {
		t.Fatalf("%v", err)
	}
	if got, err := f.act(t, "drop", "x/a.arrow"); err != nil || got != `{"dropped":"x/a.arrow"}` {
		t.Errorf("got %s, %v", got, err)
	}
	if left := filesBelow(t, dir); len(left) > 0 {
		t.Errorf("files %q", left)
	}
	if got := entries(f.catalog, ""); len(got) > 0 {
		t.Errorf("%d entries", len(got))
	}
	_, err := f.act(t, "drop", "x/a.arrow")
	wantStatus(t, err, codes.NotFound)
	if !slices.Contains(actionTypes(t, f), "drop") {
		t.Error("drop is not listed")
	}
}

// TestReadOnly refuses to store where no folder is writable.
func TestReadOnly(t *testing.T) {
	f := serveAll(t, nil)
	_, err := f.put(t.Context(), pathOf("a"), messages(t, sample(t, 0, 3)))
	wantStatus(t, err, codes.Unimplemented, "--writable")
	_, err = f.act(t, "drop", "a")
	wantStatus(t, err, codes.Unimplemented, "drop")
}

func TestPutLimits(t *testing.T) {
	f, dir := serveWritable(t, nil, catalog.Config{MaxStoredBytes: 100_000})
	_, err := f.put(t.Context(), pathOf("a"), messages(t, sample(t, 0, 1000), sample(t, 1000, 50_000)))
	wantStatus(t, err, codes.ResourceExhausted, "a.arrow", "--max-put-bytes", "100000")
	if left := filesBelow(t, dir); len(left) > 0 {
		t.Errorf("files %q", left)
	}
}

// TestPutIdle gives up a client that sends nothing more.
func TestPutIdle(t *testing.T) {
	dir := t.TempDir()
	f := serveCatalog(t, nil, catalog.Config{Formats: all.Formats(), Writable: &catalog.Root{Dir: dir}},
		func(c *Config) {
			c.uploadIdle = 50 * time.Millisecond
		})
	stream, err := f.client.DoPut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := messages(t, sample(t, 0, 3))[0]
	first.FlightDescriptor = pathOf("a")
	if err := stream.Send(first); err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	wantStatus(t, err, codes.DeadlineExceeded, "50ms", "done_writing")
	if left := filesBelow(t, dir); len(left) > 0 {
		t.Errorf("files %q", left)
	}
}

// TestPutMalformed flips every byte of the messages of a small table. What comes of it is an error
// of the client, or a table that can be read.
func TestPutMalformed(t *testing.T) {
	f, dir := serveWritable(t, nil, catalog.Config{})
	good := messages(t, sample(t, 0, 4))
	each := 7
	if testing.Short() {
		each = 31
	}
	n := 0
	for m := range good {
		whole := len(good[m].DataHeader) + len(good[m].DataBody)
		for at := n % each; at < whole; at += each {
			n++
			sent := slices.Clone(good)
			sent[m] = proto.Clone(good[m]).(*flight.FlightData)
			if h := len(good[m].DataHeader); at < h {
				sent[m].DataHeader[at] ^= byte(1 + n%255)
			} else {
				sent[m].DataBody[at-h] ^= byte(1 + n%255)
			}
			_, err := f.put(t.Context(), cmdOf(`{"name":"a","mode":"replace"}`), sent)
			if err == nil {
				_, err = f.get(t, "a.arrow")
			}
			if err != nil {
				wantStatus(t, err, codes.InvalidArgument)
			}
		}
	}
	for _, cut := range [][]*flight.FlightData{
		good[1:],
		{good[0], good[0]},
		{good[1], good[0]},
		{{}},
		{{DataHeader: []byte("nonsense")}},
	} {
		_, err := f.put(t.Context(), pathOf("b"), cut)
		wantStatus(t, err, codes.InvalidArgument)
	}
	for _, name := range filesBelow(t, dir) {
		if name != "a.arrow" {
			t.Errorf("%s is left", name)
		}
	}
}

// TestPutsAtOnce has clients make, and append to, the same table at the same time: one makes it,
// and no row is lost.
func TestPutsAtOnce(t *testing.T) {
	f, dir := serveWritable(t, nil, catalog.Config{})
	var wg sync.WaitGroup
	var made atomic.Int64
	for range 8 {
		wg.Go(func() {
			sent := messages(t, sample(t, 0, 10))
			if _, err := f.put(t.Context(), pathOf("made"), sent); err == nil {
				made.Add(1)
			}
			if _, err := f.put(t.Context(), cmdOf(`{"name":"sum","mode":"create_append"}`), sent); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	g, err := f.get(t, "sum.arrow")
	if err != nil || g.rows != 80 || made.Load() != 1 {
		t.Errorf("%d rows, made %d times, %v", g.rows, made.Load(), err)
	}
	if left := filesBelow(t, dir); len(left) != 2 {
		t.Errorf("files %q", left)
	}
}

// TestPutsLeftLeaveNothing has clients leave in the middle.
func TestPutsLeftLeaveNothing(t *testing.T) {
	clients := 2000
	if testing.Short() {
		clients = 200
	}
	f, dir := serveWritable(t, nil, catalog.Config{})
	sent := messages(t, sample(t, 0, 1000), sample(t, 0, 1000))
	leavePuts(t, f, sent, 20)
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	leavePuts(t, f, sent, clients)
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
	eventually(t, "the files are closed", func() bool { return openFiles(t) <= files+5 })
	eventually(t, "nothing is left", func() bool { return len(filesBelow(t, dir)) == 0 })
	if n := len(entries(f.catalog, "")); n > 0 {
		t.Errorf("%d entries", n)
	}
}

func leavePuts(t *testing.T, f *fixture, sent []*flight.FlightData, n int) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			client := f.client
			if i%8 == 7 {
				client = dial(t, f.addr)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream, err := client.DoPut(ctx)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			for k, m := range sent[:1+i%len(sent)] {
				m = proto.Clone(m).(*flight.FlightData)
				if k == 0 {
					m.FlightDescriptor = pathOf("left")
				}
				if err := stream.Send(m); err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			}
			if client != f.client {
				_ = client.Close()
				return
			}
			cancel()
			for err == nil {
				_, err = stream.Recv()
			}
		})
	}
	wg.Wait()
}

// TestIngest stores by Flight SQL's command, without an engine even.
func TestIngest(t *testing.T) {
	f, _ := serveWritable(t, nil, catalog.Config{})
	const (
		create  = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_NOT_EXIST_OPTION_CREATE
		absent  = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_NOT_EXIST_OPTION_FAIL
		fail    = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_EXISTS_OPTION_FAIL
		extend  = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_EXISTS_OPTION_APPEND
		replace = pb.CommandStatementIngest_TableDefinitionOptions_TABLE_EXISTS_OPTION_REPLACE
	)
	options := func(o *pb.CommandStatementIngest_TableDefinitionOptions) *pb.CommandStatementIngest {
		return &pb.CommandStatementIngest{Table: "t", TableDefinitionOptions: o}
	}
	text := func(s string) *string { return &s }
	mode := func(none pb.CommandStatementIngest_TableDefinitionOptions_TableNotExistOption,
		there pb.CommandStatementIngest_TableDefinitionOptions_TableExistsOption,
	) *pb.CommandStatementIngest {
		return options(&pb.CommandStatementIngest_TableDefinitionOptions{IfNotExist: none, IfExists: there})
	}
	inFolder := mode(create, fail)
	inFolder.Schema = text("folder")
	temporary := mode(create, fail)
	temporary.Temporary = true
	inTransaction := mode(create, fail)
	inTransaction.TransactionId = []byte("x")
	tests := []struct {
		name    string
		command *pb.CommandStatementIngest
		entry   string
		rows    int64
		err     codes.Code
	}{
		{"append to nothing", mode(absent, extend), "", 0, codes.NotFound},
		{"create", mode(create, fail), "t.arrow", 3, codes.OK},
		{"create again", mode(create, fail), "", 0, codes.AlreadyExists},
		{"append", mode(absent, extend), "t.arrow", 6, codes.OK},
		{"create or append", mode(create, extend), "t.arrow", 9, codes.OK},
		{"replace", mode(create, replace), "t.arrow", 3, codes.OK},
		{"in a folder", inFolder, "folder/t.arrow", 3, codes.OK},
		{"no options", options(nil), "", 0, codes.InvalidArgument},
		{"temporary", temporary, "", 0, codes.Unimplemented},
		{"in a transaction", inTransaction, "", 0, codes.InvalidArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := anypb.New(tt.command)
			if err != nil {
				t.Fatal(err)
			}
			cmd, err := proto.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := f.put(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd},
				messages(t, sample(t, 0, 3)))
			if tt.err != codes.OK {
				wantStatus(t, err, tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var result pb.DoPutUpdateResult
			if err := proto.Unmarshal(answer.AppMetadata, &result); err != nil || result.RecordCount != 3 {
				t.Errorf("answer %v, %v", &result, err)
			}
			if g, err := f.get(t, tt.entry); err != nil || g.rows != tt.rows {
				t.Errorf("%d rows, want %d: %v", g.rows, tt.rows, err)
			}
		})
	}
}

// endedPut is a DoPut of one message.
type endedPut struct {
	flight.FlightService_DoPutServer
	sent int
}

func (*endedPut) Context() context.Context { return context.Background() }

func (p *endedPut) Recv() (*flight.FlightData, error) {
	if p.sent++; p.sent > 1 {
		return nil, io.EOF
	}
	return &flight.FlightData{}, nil
}

// A refused ingestion reads what the client still sends, also if it has read the end before.
func TestReceiveAfterTheEnd(t *testing.T) {
	s := &service{}
	s.cfg.uploadIdle = time.Hour
	up := s.receiveAhead("t", &endedPut{})
	if _, err := up.Recv(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := up.Recv(); !errors.Is(err, io.EOF) {
			t.Fatalf("got %v, want the end", err)
		}
	}
}
