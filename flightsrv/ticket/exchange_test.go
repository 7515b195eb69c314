package ticket_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// FuzzExchangeCommand reads any command. A shape that is accepted has a schema.
func FuzzExchangeCommand(f *testing.F) {
	for _, seed := range []string{
		`{"format":"geojson","size":10,"columns":["a"],"bbox":[0,0,1,1],"options":{"on_error":"skip"}}`,
		`{"format":"kml","layer":"a","shape":{"ids":[{"Role":0,"Name":"a"}],"facts":[{"Kinds":2}],"shapes":true,"kind":1,"dim":1,"crs":{"Authority":"EPSG","Code":"3857"},"batch_rows":0,"starts":[0,0]}}`,
		`{"format":"arrow","shape":{"ids":[{"Role":0,"Name":"a"}],"facts":[{"Kinds":33554432,"Declared":"int8"}],"starts":[0,0]}}`,
		`{"format":"arrow","shape":{"ids":[{"Role":200,"Name":"a"}],"facts":[{"Kinds":4294967295,"Declared":"no type"}],"kind":7,"dim":9,"starts":[0,0]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, cmd []byte) {
		x, err := ticket.ParseExchange(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd})
		if err != nil || x.Shape == nil {
			return
		}
		schema, err := catalog.StreamSchema(x.Shape, catalog.Selection{Encoding: x.Encoding})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := frame.Schema(schema); err != nil {
			t.Fatal(err)
		}
	})
}
