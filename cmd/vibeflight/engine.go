package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// gpuConfig is what parses may take of the cards.
type gpuConfig struct {
	memory byteSize // of each card; 0: readers.EngineConfig.MemoryOf says
	cards  string   // all, or ordinals separated by commas
}

const allCards = "all"

func (c *gpuConfig) flags(f *pflag.FlagSet) {
	f.Var(&c.memory, "gpu-memory", "device memory for parsing on each GPU, as 2GiB; 0 is 1GiB or a quarter of the "+
		"card's, whichever is less")
	f.StringVar(&c.cards, "gpus", allCards, "GPUs to parse on: all, or their numbers as doctor shows them, "+
		"separated by commas")
}

// ordinals are the cards by number; nil: all.
func (c *gpuConfig) ordinals() ([]int, error) {
	if c.cards == allCards {
		return nil, nil
	}
	var ordinals []int
	for text := range strings.SplitSeq(c.cards, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 {
			return nil, wrongUsage("--gpus: %q is neither all nor numbers of GPUs, as 0,2", c.cards)
		}
		if slices.Contains(ordinals, n) {
			return nil, wrongUsage("--gpus: %d is given twice", n)
		}
		ordinals = append(ordinals, n)
	}
	return ordinals, nil
}

// openEngines opens the engines of all formats.
func (c *gpuConfig) openEngines(engine, cacheDir string, limits readers.Limits,
	log zerolog.Logger,
) (*engines.Engines, error) {
	ordinals, err := c.ordinals()
	if err != nil {
		return nil, err
	}
	return engines.Open(engines.Config{
		Formats: all.Formats(), Engine: engine, Cards: ordinals, Memory: int64(c.memory), CacheDir: cacheDir,
		Limits: limits, Log: log,
	})
}
