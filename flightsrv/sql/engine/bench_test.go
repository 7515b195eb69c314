//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// BenchmarkStatement runs queries as a client of Flight SQL does, each prepared, read and closed,
// over a million rows of two columns: what a query costs in addition to DuckDB's own work is most
// of the first.
func BenchmarkStatement(b *testing.B) {
	var text strings.Builder
	text.WriteString("i,x\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "%d,%d.5\n", i, i%1000)
	}
	w := newWorld(b, map[string]string{"grid.csv": text.String()}, func(c *catalog.Config, _ *Config) {
		c.Limits = readers.Limits{}
		c.MemoryBytes = 1 << 30
	})
	for _, query := range []string{
		"SELECT 1", "SELECT count(*) FROM grid", "SELECT sum(x) FROM grid",
		"SELECT sum(x) FROM grid WHERE i > 900000", "SELECT i FROM grid",
	} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if err := ask(b.Context(), w.engine, query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ask(ctx context.Context, e *Engine, query string) error {
	s, err := e.Prepare(ctx, query, "")
	if err != nil {
		return err
	}
	defer s.Close()
	rows, err := s.Query(ctx, nil, 0)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rec.Release()
	}
}
