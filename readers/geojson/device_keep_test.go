package geojson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestDeviceKeeps expects the columns of geometries, numbers, texts and lists to stay on the device. The
// CPU engine parses the first rows.
func TestDeviceKeeps(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 16<<10)
	for name, geometry := range map[string]string{
		"polygons": `{"type":"Polygon","coordinates":[[[1.5,2.5],[3.5,2.5],[3.5,4.5],[1.5,2.5]]]}`,
		"lines":    `{"type":"LineString","coordinates":[[1.5,2.5],[3.5,2.5],[3.5,4.5]]}`,
		"points":   `{"type":"Point","coordinates":[1.5,2.5]}`,
	} {
		var b strings.Builder
		for i := 0; b.Len() < 320<<10; i++ {
			fmt.Fprintf(&b, `{"type":"Feature","properties":{"n":%d,"x":%d.5,"name":"a%d","list":[%d,2]},"geometry":%s}`+"\n",
				i, i, i, i, geometry)
		}
		d.Keeps(t, 0.8, readertest.Input{Name: name + ".geojsonl", Text: []byte(b.String())})
	}
}
