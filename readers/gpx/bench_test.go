package gpx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gpx"
	"github.com/vibeflight/vibeflight/readers/source"
)

// walks returns a text of tracks with segments of points, after waypoints.
func walks(points int) string {
	r := rand.New(rand.NewPCG(8, 4))
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
		"<gpx version=\"1.1\" creator=\"test\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n")
	for i := range points / 10 {
		fmt.Fprintf(&b, " <wpt lat=\"%.6f\" lon=\"%.6f\"><ele>%.1f</ele><time>2024-05-%02dT12:%02d:%02dZ</time>"+
			"<name>WP %d</name><cmt>a comment</cmt><desc>Place &amp; more</desc><sym>Flag, Blue</sym></wpt>\n",
			40+r.Float64()*5, r.Float64()*5-100, r.Float64()*1000, 1+i%28, i%60, i%60, i)
	}
	for t := 0; t < points; t += 5000 {
		fmt.Fprintf(&b, " <trk><name>Track %d</name>\n", t)
		for range 2 {
			b.WriteString("  <trkseg>\n")
			x, y := r.Float64()*5-100, 40+r.Float64()*5
			for i := range 2500 {
				x, y = x+r.Float64()/1e4, y+r.Float64()/1e4
				fmt.Fprintf(&b, "   <trkpt lat=\"%.7f\" lon=\"%.7f\"><ele>%.1f</ele>", y, x, 100+r.Float64()*10)
				fmt.Fprintf(&b, "<time>2024-05-17T%02d:%02d:%02dZ</time></trkpt>\n", i/3600, i/60%60, i%60)
			}
			b.WriteString("  </trkseg>\n")
		}
		b.WriteString(" </trk>\n")
	}
	b.WriteString("</gpx>\n")
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	path := os.Getenv("GPX_FILE")
	if path == "" {
		path = filepath.Join(b.TempDir(), "walks.gpx")
		if err := os.WriteFile(path, []byte(walks(100_000)), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	src, err := source.Open("walks.gpx", path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, layer := range []string{"waypoints", "tracks", "track_points"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", layer, workers), func(b *testing.B) {
				b.SetBytes(src.Size)
				parser := gpx.Format().CPU(readers.Layout{Layer: layer})
				limits := readers.Limits{Workers: workers}
				for b.Loop() {
					_, err := readers.Read(context.Background(), gpx.Format(), parser, src, limits, nil)
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
