package kml_test

import (
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

func TestDeviceLarge(t *testing.T) {
	readertest.DeviceLarge(t, kml.Format(), func() []readertest.Input {
		o := ordinary{
			Rand: rand.New(rand.NewPCG(7, 5)), geometries: []func(*ordinary) string{points, lines, polygons},
			data: untyped,
		}
		return []readertest.Input{{Name: "places.kml", Text: o.file(10000)}}
	})
}
