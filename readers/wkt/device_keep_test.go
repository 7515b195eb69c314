package wkt_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// TestDeviceKeeps expects columns of geometries to stay on the device, native ones and WKB.
func TestDeviceKeeps(t *testing.T) {
	d := readertest.NewDevice(t, wkt.Format(), 16<<10)
	polygon, line := "POLYGON ((1.5 2.5, 3.5 2.5, 3.5 4.5, 1.5 2.5))\n", "LINESTRING (1.5 2.5, 3.5 2.5)\n"
	for name, rows := range map[string]string{"polygons": polygon, "several kinds": polygon + line} {
		text := strings.Repeat(rows, 320<<10/len(rows))
		d.Keeps(t, 0.8, readertest.Input{Name: name + ".wkt", Text: []byte(text)})
	}
}
