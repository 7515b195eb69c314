package parallel

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func TestWorthwhile(t *testing.T) {
	for _, tt := range []struct {
		name    string
		span    readers.Span
		workers int
		want    bool
	}{
		{"two parts", readers.Span{From: 5, To: 25}, 4, false},
		{"more than two", readers.Span{From: 5, To: 26}, 4, true},
		{"one worker", readers.Span{To: 1000}, 1, false},
		{"a chunk again", readers.Span{To: 1000, Inside: true}, 4, false},
		{"nothing", readers.Span{}, 4, false},
	} {
		if got := Worthwhile(tt.span, &readers.Limits{Workers: tt.workers, PartBytes: 10}); got != tt.want {
			t.Errorf("%s: got %t", tt.name, got)
		}
	}
}

func TestOutputOfNoRows(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		name   string
		chunks int
		span   readers.Span
		empty  error
		emit   error
		want   int // chunks that are emitted
		err    error
	}{
		{name: "no rows", want: 1},
		{name: "some rows", chunks: 2, want: 2},
		{name: "a span within the file", span: readers.Span{Inside: true}, want: 0},
		{name: "no columns", empty: failed, err: failed},
		{name: "emit fails", emit: failed, want: 1, err: failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []readers.Chunk
			o := NewOutput(func(c readers.Chunk) error {
				got = append(got, c)
				return tt.emit
			})
			for range tt.chunks {
				if err := o.Emit(readers.Chunk{Columns: &geoarrow.Columns{Rows: 1}}); err != nil {
					t.Fatal(err)
				}
			}
			err := o.Finish(tt.span, func() (*geoarrow.Columns, error) {
				if tt.empty != nil {
					return nil, tt.empty
				}
				return NoGeometries()
			})
			if !errors.Is(err, tt.err) || len(got) != tt.want {
				t.Fatalf("got %d chunks, error %v", len(got), err)
			}
			if tt.chunks == 0 && tt.want == 1 && (got[0].Columns.Rows != 0 || got[0].Columns.Geometry == nil) {
				t.Errorf("got %+v", got[0].Columns)
			}
		})
	}
}

func TestState(t *testing.T) {
	for _, srid := range []int32{0, 1, 4326, 1<<31 - 1, -1, -1 << 31} {
		for _, closed := range []bool{false, true} {
			if got, ended := UnpackState(PackState(srid, closed)); got != srid || ended != closed {
				t.Errorf("SRID %d, closed %t: got %d, %t", srid, closed, got, ended)
			}
		}
	}
}

func TestFreeList(t *testing.T) {
	var l FreeList[int]
	if v, ok := l.Take(); ok || v != 0 {
		t.Errorf("an empty list gives %d, %t", v, ok)
	}
	l.Give(1)
	l.Give(2)
	for _, want := range []int{2, 1} {
		if v, ok := l.Take(); !ok || v != want {
			t.Errorf("got %d, %t, want %d", v, ok, want)
		}
	}

	const n = 100
	var wait sync.WaitGroup
	taken := make([]int, n)
	for i := range n {
		wait.Go(func() {
			l.Give(i)
			v, ok := l.Take()
			if !ok {
				t.Error("nothing to take after Give")
			}
			taken[i] = v
		})
	}
	wait.Wait()
	slices.Sort(taken)
	for i, v := range taken {
		if v != i {
			t.Fatalf("value %d was taken twice or never: %v", i, taken)
		}
	}
}
