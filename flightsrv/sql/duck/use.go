//go:build cgo && linux && (amd64 || arm64)

package duck

import "context"

// Use sets the schema in which unqualified names are looked up before main. The schema must exist.
func (c *Conn) Use(schema string) error {
	c.begin(context.Background(), crsNames{})
	defer c.end()
	return c.run("SET schema = " + quoteText(quoteName(schema)))
}
