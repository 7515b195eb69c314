package readertest

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Limited returns a parser with n workers, each of which reads partBytes in one go, or as many as
// usual where that is 0, whatever Limits say.
func Limited(p readers.Parser, workers, partBytes int) readers.Parser {
	return limitCase{p, workers, int64(partBytes)}
}

type limitCase struct {
	readers.Parser
	workers   int
	partBytes int64
}

func (p limitCase) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	req.Limits.Workers, req.Limits.PartBytes = p.workers, p.partBytes
	return p.Parser.Parse(ctx, src, req, emit)
}
