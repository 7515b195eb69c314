package quickstart

import (
	"fmt"
	"strings"
)

// Snippet is a program to paste.
type Snippet struct {
	Title string // with what it needs
	Text  string // lines, the last one with its end
}

// Snippets returns programs that read the sample data from a server at an address of Flight, as
// grpc://127.0.0.1:8815, and one of HTTP.
func Snippets(flight, http string) []Snippet {
	texts := []Snippet{
		{"Python with GeoPandas: pip install 'vibeflight[geopandas]'", `import vibeflight
server = vibeflight.connect("FLIGHT")
africa = server.table("countries.geojson", bbox=[-18, -35, 52, 38]).geopandas()
print(africa[["name", "pop_est"]].head())
`},
		{"Python with Polars: pip install 'vibeflight[polars]'", `import vibeflight
server = vibeflight.connect("FLIGHT")
print(server.sql("SELECT continent, sum(pop_est) AS people FROM countries GROUP BY ALL ORDER BY people DESC").polars())
`},
		{"SQL; without the query it is a prompt", "" +
			"vibeflight sql 'SELECT name, pop_est FROM countries ORDER BY pop_est DESC LIMIT 3' " +
			"--server FLIGHT\n"},
		{"HTTP", `curl 'HTTP/v1/tables/countries.geojson?limit=3&format=geojson'
`},
	}
	addresses := strings.NewReplacer("FLIGHT", flight, "HTTP/", strings.TrimSuffix(http, "/")+"/")
	for i := range texts {
		texts[i].Text = addresses.Replace(texts[i].Text)
	}
	return texts
}

// mark begins the line of a snippet's title.
const mark = "──── "

// Text returns all of them for a terminal. Their lines are not indented, so that they can be pasted.
func Text(snippets []Snippet) string {
	var b strings.Builder
	for _, s := range snippets {
		fmt.Fprintf(&b, "%s%s\n%s\n", mark, s.Title, s.Text)
	}
	return b.String()
}
