package sqlite

import (
	"context"
	"fmt"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

const benchRecords = 100_000

// filled returns a store of 100,000 records of about 2 KB.
func filled(b *testing.B) *Store {
	s, _ := open(b, fresh(b))
	for i := range benchRecords {
		storetest.Put(b, s, storetest.Sample(benchName(i), i))
	}
	return s
}

func benchName(i int) string { return fmt.Sprintf("folder/%06d.geojson", i*7919%benchRecords) }

func BenchmarkStore(b *testing.B) {
	s := filled(b)
	ctx := context.Background()
	b.Run("get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			key := store.Key{Name: benchName(i % benchRecords), Options: [32]byte{1}}
			if _, ok, err := s.Get(ctx, key); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("put", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			storetest.Put(b, s, storetest.Sample(benchName(i%benchRecords), i))
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			n := 0
			if err := s.All(ctx, func(store.Record) error { n++; return nil }); n != benchRecords || err != nil {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			another, err := Open(s.path, s.log)
			if err != nil {
				b.Fatal(err)
			}
			if err := another.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
