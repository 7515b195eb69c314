package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/gen"
)

const genLong = `Write a synthetic GeoJSON file.

The same kind, number and seed give the same bytes on every machine. --size gives about that size.`

func newGen(std stdio) *cobra.Command {
	var (
		out      string
		features int64
		size     byteSize
		seed     uint64
	)
	cmd := &cobra.Command{
		Use:   "gen " + strings.Join(gen.Kinds(), "|"),
		Short: "Write a synthetic file of any size",
		Long:  genLong,
		Args:  oneArgument("kind of file: " + strings.Join(gen.Kinds(), ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := cmd.Flags()
			kind := args[0]
			if !slices.Contains(gen.Kinds(), kind) {
				return wrongUsage("no kind %q; known are %s", kind, strings.Join(gen.Kinds(), ", "))
			}
			switch {
			case out == "":
				return wrongUsage("-o: say which file to write, or - for stdout")
			case f.Changed("features") == f.Changed("size"):
				return wrongUsage("want either --features or --size")
			case features < 0:
				return wrongUsage("--features: %d is negative", features)
			case f.Changed("size"):
				features = gen.FeaturesFor(kind, int64(size))
			}
			return generate(cmd.Context(), std, out, gen.Spec{Kind: kind, Features: features, Seed: seed})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "file to write, or - for stdout")
	f.Int64Var(&features, "features", 0, "how many features")
	f.Var(&size, "size", "about how large, as 2GB or 512MiB")
	f.Uint64Var(&seed, "seed", 1, "another seed gives another file")
	return cmd
}

func generate(ctx context.Context, std stdio, path string, spec gen.Spec) error {
	p := newProgress(std.err, path, " features")
	spec.Progress = func(features, _ int64) { p.set(features, spec.Features) }
	defer p.close()
	if path == "-" {
		return generateTo(ctx, std.out, spec)
	}
	out, err := createFile(path)
	if err != nil {
		return err
	}
	defer out.discard()
	if err := generateTo(ctx, out, spec); err != nil {
		return err
	}
	return out.keep()
}

func generateTo(ctx context.Context, w io.Writer, spec gen.Spec) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if err := gen.Write(ctx, b, spec); err != nil {
		return err
	}
	return b.Flush()
}
