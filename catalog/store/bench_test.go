package store

import (
	"context"
	"fmt"
	"testing"
)

const benchRecords = 100_000

// filled returns a store of 100,000 records of about 2 KB.
func filled(b *testing.B) *SQLite {
	s, _ := open(b, fresh(b))
	for i := range benchRecords {
		put(b, s, sample(benchName(i), i))
	}
	return s
}

func benchName(i int) string { return fmt.Sprintf("folder/%06d.geojson", i*7919%benchRecords) }

func BenchmarkStore(b *testing.B) {
	s := filled(b)
	ctx := context.Background()
	b.Run("get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, ok, err := s.Get(ctx, Key{benchName(i % benchRecords), [32]byte{1}}); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("put", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			put(b, s, sample(benchName(i%benchRecords), i))
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			n := 0
			if err := s.All(ctx, func(Record) error { n++; return nil }); n != benchRecords || err != nil {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			another, err := OpenSQLite(s.path, s.log)
			if err != nil {
				b.Fatal(err)
			}
			if err := another.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
