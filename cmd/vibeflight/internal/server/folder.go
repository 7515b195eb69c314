package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/flightsrv/web"
	"github.com/vibeflight/vibeflight/readers/remote"
)

// Arguments sets --data to the arguments of the command line, which are folders and files. pflag takes
// the word after --http, whose value is optional, for an argument.
func (c *Config) Arguments(f *pflag.FlagSet, args []string) error {
	if at := slices.IndexFunc(args, isAddress); at >= 0 && c.HTTP.address == web.DefaultAddress {
		c.HTTP.address, args = args[at], slices.Delete(slices.Clone(args), at, at+1)
	}
	c.named = len(args) > 0
	for _, folder := range args {
		if err := f.Set("data", folder); err != nil {
			return err
		}
	}
	return nil
}

// isAddress reports whether an argument is HOST:PORT, and nothing of this name is here.
func isAddress(arg string) bool {
	if _, _, err := net.SplitHostPort(arg); err != nil {
		return false
	}
	_, err := os.Stat(arg)
	return err != nil
}

// UseCurrentFolder serves the current folder if nothing else says what to serve.
func (c *Config) UseCurrentFolder() {
	if len(c.Data) == 0 && len(c.Unlisted) == 0 && c.Writable == "" && len(c.Dataset) == 0 &&
		len(c.File.Datasets) == 0 {
		c.Data, c.named = []string{"."}, true
	}
	c.announce = c.named || c.ExitWithStdin
	c.named = c.named && c.Writable == "" // a folder that clients fill may be empty
}

// nothingToServe returns the error for folders of the command line without entries.
func (c *Config) nothingToServe() error {
	var folders []string
	for _, data := range c.Data {
		switch {
		case data == ".":
			data = "this folder"
		case remote.IsURL(data):
			data = remote.Address(data)
		}
		folders = append(folders, data)
	}
	return errors.New("no file that can be read is in " + strings.Join(folders, " and ") +
		": serve another one with vibeflight serve FOLDER; --data serves a folder that is still empty")
}

// announceOn tells the person or the program that started the server where it listens.
func (c *Config) announceOn(addresses []string, files *catalog.Catalog) {
	if !c.announce {
		return
	}
	var at []string
	for _, address := range addresses {
		at = append(at, c.location(address))
	}
	entries, _ := files.Count()
	if c.http != nil {
		_, _ = fmt.Fprintf(c.Stdio.Out, "console at %s\n", c.http.URL())
	}
	tables := units.Counted(int64(entries), "table")
	_, _ = fmt.Fprintf(c.Stdio.Out, "serving %s at %s\n", tables, strings.Join(at, ", "))
}
