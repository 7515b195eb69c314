package gml_test

import "testing"

// TestRoots has roots that are no collections.
func TestRoots(t *testing.T) {
	const feature = `<f gml:id="a"><n>1</n><g><Point><pos>1 2</pos></Point></g></f>`
	const want = "gml_id: string: \"a\"\nn: int32: 1\ngeometry: geoarrow.point xy: POINT (1 2)"
	const two = "gml_id: string: \"a\" | \"a\"\nn: int32: 1 | 1\ngeometry: geoarrow.point xy: POINT (1 2) | POINT (1 2)"
	collection := "<FeatureCollection><featureMember>" + feature + "</featureMember></FeatureCollection>"
	check(t, readCase{}, []textCase{
		{"a feature", feature, want},
		{"a feature after a comment", "<?xml version='1.0'?><!-- <f> -->" + feature + "\n<!-- -->", want},
		{
			"without identifier", `<f><n>1</n><g><Point><pos>1 2</pos></Point></g></f>`,
			"n: int32: 1\ngeometry: geoarrow.point xy: POINT (1 2)",
		},
		{"without geometry", `<f gml:id="a"><n>1</n></f>`, "gml_id: string: \"a\"\nn: int32: 1"},
		{"neither", `¦<f><n>1</n></f>`, "no features: <f> is no FeatureCollection"},
		{"a geometry", `¦<Point gml:id="a"><pos>1 2</pos></Point>`, "no features"},
		{"NAS", "<A><enthaelt>" + collection + "</enthaelt></A>", want},
		{"NAS with more", "<A><x><y>1</y></x><enthaelt>" + collection + "</enthaelt><z/></A>", want},
		{"two collections", "<A><enthaelt>" + collection + "</enthaelt><enthaelt>" + collection +
			"</enthaelt></A>", two},
		{"deeper", "<A><b><c>" + collection + "</c></b><b><c>" + collection + "</c></b></A>", two},
		{"members and a collection", "<A><featureMember>" + feature + "</featureMember><b>" + collection +
			"</b></A>", two},
		{"malformed feature", `<f gml:id="a"><g><Point><pos>1 ¦x</pos></Point></g></f>`, "want an ordinate"},
	})
}
