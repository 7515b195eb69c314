// Package console is the page for browsers: the catalog, tables, maps, SQL, and what the server does.
// Its sources are TypeScript in src. `make console` builds them into assets, which the server embeds,
// so that a build of the server needs no Node. The build tag noconsole leaves them out.
package console
