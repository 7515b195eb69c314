// Command images compiles every kernel for the architectures of a release and writes the archive
// that a build with the tag images embeds. It needs NVRTC, and neither a device nor a driver.
//
//	go run -tags cuda ./kernels/internal/images -o kernels/images.zip
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/compile"
	"github.com/vibeflight/vibeflight/kernels"
)

func main() {
	out := flag.String("o", "kernels/images.zip", "archive to write")
	nvrtc := flag.String("nvrtc", "", "NVRTC's library; empty: where the loader and CUDA's installers put it")
	archs := flag.String("arch", strings.Join(compile.Release(), ","),
		"architectures: sm_90 gives a CUBIN, compute_90 PTX")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx, os.Stdout, *out, *nvrtc, strings.Split(*archs, ","))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// write compiles all kernels and writes the archive. Nothing is written if one does not compile, or
// not without a warning.
func write(ctx context.Context, log io.Writer, path, nvrtc string, archs []string) error {
	compiler, err := compile.NVRTC(nvrtc)
	if err != nil {
		return err
	}
	sources, err := kernels.Sources()
	if err != nil {
		return err
	}
	start := time.Now()
	var images []gpu.Image
	var failed error
	size := 0
	for _, r := range compiler.All(ctx, sources, archs) {
		if r.Err == nil && r.Log != "" {
			r.Err = fmt.Errorf("%s for %s:\n%s", r.Source.Name, r.Arch, r.Log)
		}
		failed = errors.Join(failed, r.Err)
		images = append(images, gpu.Image{Key: r.Key(), Arch: r.Arch, Bytes: r.Image})
		size += len(r.Image)
	}
	if failed != nil {
		return failed
	}
	var archive bytes.Buffer
	if err := gpu.WriteImages(&archive, images); err != nil {
		return err
	}
	if err := os.WriteFile(path, archive.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(log, "%s: %d sources for %s with %s: %d images of %d bytes in %.1f s, archive of %d bytes\n",
		path, len(sources), strings.Join(archs, ", "),
		compiler.Version(), len(images), size, time.Since(start).Seconds(), archive.Len())
	return err
}
