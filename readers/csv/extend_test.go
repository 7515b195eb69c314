package csv_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// readOn reads a text, or extends old. ok is false if that is impossible.
func readOn(t *testing.T, text string, old *readers.Table, limits readers.Limits) (table *readers.Table,
	ok bool, err error,
) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.csv", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := csv.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	layout, err := f.Open(ctx, src, opts)
	if err != nil {
		return nil, true, err
	}
	ok = true
	if old == nil {
		table, err = readers.Read(ctx, f, f.CPU(layout), src, limits, nil)
	} else {
		table, ok, err = readers.Extend(ctx, f, f.CPU(layout), src, limits, old, nil)
	}
	if table != nil {
		_ = table.Measure(context.Background())
	}
	return table, ok, err
}

// TestExtend lets random files grow at the end of any line: the table must be that of the whole
// file, and so must the error.
func TestExtend(t *testing.T) {
	extended := 0
	for seed := range uint64(100) {
		whole, _ := random(seed)
		if seed%3 == 0 {
			whole = "id,lat,lon\n" + strings.Repeat("1,2,3\n,,\n\"\",4.5,6\n", int(seed%5)) + "x,7,8\n" +
				[]string{"", "9,,\n", "9,x,1\n", "9,1\n"}[seed%4]
		}
		limits := readers.Limits{BatchRows: 1 + int(seed%7), Workers: 1 + int(seed%2), PartBytes: 20 + int64(seed%90)}
		want, _, wantErr := readOn(t, whole, nil, limits)
		for cut := range whole {
			if cut == 0 || whole[cut-1] != '\n' || cut%3 != 0 {
				continue
			}
			old, _, err := readOn(t, whole[:cut], nil, limits)
			if err != nil {
				continue
			}
			got, ok, gotErr := readOn(t, whole, old, limits)
			if !ok {
				continue
			}
			extended++
			switch {
			case (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error():
				t.Fatalf("%q, grown from byte %d\ngot  %v\nwant %v", whole, cut, gotErr, wantErr)
			case gotErr == nil && readertest.Rows(got) != readertest.Rows(want):
				t.Fatalf("%q, grown from byte %d\ngot\n%s\nwant\n%s", whole, cut, readertest.Rows(got),
					readertest.Rows(want))
			}
		}
	}
	if extended < 100 {
		t.Errorf("%d files were extended only", extended)
	}
}
