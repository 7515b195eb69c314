package sqlengine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vibeflight/vibeflight/catalog"
)

// A query may read files of a store by their URL, as DuckDB's do: FROM 's3://bucket/*.parquet'. Each
// such text becomes a dataset of its own, by whose name the query is run.

// fromURL matches FROM or JOIN and the text of a URL after it.
var fromURL = regexp.MustCompile(`(?i)\b(FROM|JOIN)(\s+)'((?:s3|gs|az|https?)://[^']+)'`)

// urlsOf returns the query with names in place of URLs, and the datasets of these names.
func urlsOf(query string) (string, []catalog.Dataset) {
	var datasets []catalog.Dataset
	names := map[string]string{}
	named := fromURL.ReplaceAllStringFunc(query, func(text string) string {
		m := fromURL.FindStringSubmatch(text)
		name, ok := names[m[3]]
		if !ok {
			name = fmt.Sprintf("url_%d", len(names)+1)
			names[m[3]] = name
			datasets = append(datasets, catalog.Dataset{Name: name, Files: []string{m[3]}})
		}
		short := m[1] + m[2] + `"` + name + `"`
		return short + strings.Repeat(" ", len(text)-len(short)) // positions in errors stay those of the query
	})
	return named, datasets
}
