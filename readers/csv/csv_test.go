package csv_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

var variants = []readertest.Variant{
	{Name: "windows", Parser: csv.Windowed},
	{Name: "workers", Parser: csv.Parallel},
	{Name: "records", Parser: csv.Single},
}

func TestGolden(t *testing.T) { readertest.Run(t, csv.Format(), variants...) }

func FuzzRead(f *testing.F) { readertest.Fuzz(f, csv.Format(), variants...) }
