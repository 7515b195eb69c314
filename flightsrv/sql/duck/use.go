//go:build cgo

package duck

import "context"

// Use has the names that a query does not qualify looked up in schema first, which has to be there,
// and in main after that.
func (c *Conn) Use(schema string) error {
	c.begin(context.Background(), crsNames{})
	defer c.end()
	return c.run("SET schema = " + quoteText(quoteName(schema)))
}
