package geojson_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	text := deviceFile(r, 500, false, shapeOf(r, "Polygon"), func(i int) string {
		return fmt.Sprintf(`"n":%d,"s":"a"`, i)
	})
	readertest.DeviceFaults(t, geojson.Format(), readertest.Input{
		Name: "a.geojson", Text: []byte(text),
		Limits: readers.Limits{BatchRows: 100},
	})
}
