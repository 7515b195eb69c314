//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
)

const roads = "name,lanes,height,opened,lon,lat\nA1,2,1.5,2020-01-02,1,2\nA2,,2.5,2021-03-04,3,4\nA3,4,,,5,6\n"

func TestQuery(t *testing.T) {
	w := newWorld(t, map[string]string{
		"roads.csv":         roads,
		"sub/owners.csv":    "road,owner\nA1,Ann\nA3,Bob\nA3,Cid\n",
		"lists.geojson":     `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":[1,2],"d":"2020-02-03"},"geometry":null},{"type":"Feature","properties":{"n":[],"d":null},"geometry":{"type":"Point","coordinates":[1,2]}}]}`,
		"odd.csv":           "a,A,a_1,\"\",rowid\n1,2,3,4,5\n6,7,8,9,10\n",
		"empty.csv":         "a,b\n",
		"polygons.geojson":  `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"i":1},"geometry":{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,2],[0,0]]]}}]}`,
		"nested/deep/x.csv": "v\n1\n",
	})
	w.want(`SELECT count(*) FROM roads`, "3")
	w.want(`SELECT * FROM roads ORDER BY name`, "A1|2|1.5|2020-01-02|POINT (1 2)", "A2|null|2.5|2021-03-04|POINT (3 4)",
		"A3|4|null|null|POINT (5 6)")
	w.want(`SELECT r.name, o.owner FROM "roads.csv" r JOIN sub."owners.csv" o ON r.name = o.road ORDER BY 2`,
		"A1|Ann", "A3|Bob", "A3|Cid")
	w.want(`SELECT sum(a.lanes) FROM roads a, roads b`, "18")
	w.want(`SELECT n, d FROM lists ORDER BY d`, "[1,2]|2020-02-03", "[]|null")
	w.want(`SELECT count(*), max(a) FROM empty`, "0|null")
	w.want(`SELECT * FROM empty`)
	w.want(`SELECT name, row_number() OVER (ORDER BY name DESC) FROM roads ORDER BY 1`, "A1|3", "A2|2", "A3|1")
	w.want(`WITH roads AS (SELECT 7 AS x) SELECT x FROM roads`, "7")
	w.want(`SELECT v FROM "nested/deep"."x.csv"`, "1")
	w.want(`SELECT v FROM "nested/deep/x.csv"`, "1")
	w.want(`SELECT v FROM vibeflight."nested/deep".x`, "1")
	w.want(`SELECT count(*) FROM vibeflight.main.roads`, "3")
	w.want(`SELECT geometry FROM polygons`, "POLYGON ((0 0, 2 0, 2 2, 0 0))")
	w.want(`SELECT * FROM odd ORDER BY ALL`, "1|2|3|4|5", "6|7|8|9|10")
	w.want(`SELECT a, "A_1", "a_1_1" FROM odd WHERE "A_1" < 3`, "1|2|3")
	w.want(`SELECT 1`, "1")
	w.want(`SELECT count(*) FROM (DESCRIBE roads)`, "5")
	w.want(`SELECT count(*) FROM roads WHERE ST_AsText(geometry) = 'POINT (3 4)'`, "1")
}

func TestDecimals(t *testing.T) {
	var files []string
	for _, name := range []string{"wide.dbf", "fox.dbf", "fox.fpt"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "readers", "dbf", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(content))
	}
	w := newWorld(t, map[string]string{"wide.dbf": files[0], "fox.dbf": files[1], "fox.fpt": files[2]},
		func(c *catalog.Config, _ *Config) {
			c.Limits.BatchRows = 1
		})
	w.want(`SELECT N FROM wide WHERE N > 7 ORDER BY N`, "9223372036854775808")
	w.want(`SELECT N FROM wide WHERE N <= 1 ORDER BY N`, "-99999999999999999", "1")
	w.want(`SELECT N FROM wide WHERE N = 9223372036854775808`, "9223372036854775808")
	w.want(`SELECT N FROM wide WHERE N IS NULL`, "null")
	if n := w.engine.Stats().BatchesLeftOut; n != 4+3+4+4 {
		t.Errorf("%d batches were left out, want 15", n)
	}
	w.want(`SELECT count(*) FROM fox WHERE Y >= -999999.5 OR Y IS NULL`, "3")
}
