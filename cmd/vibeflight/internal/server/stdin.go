package server

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
)

// exitWithStdin ends the server when standard input ends. The program that started the server holds
// the other end of a pipe, which the system closes if that program is killed.
func (c *Config) exitWithStdin(log zerolog.Logger) {
	_, err := io.Copy(io.Discard, c.Stdio.In)
	log.Info().AnErr("error", err).Msg("standard input has ended")
	c.stop()
}

// removeFolders removes the folders of the unix sockets that the server listened on, if they are empty:
// that of a private server, which the program that made it may no longer be there to remove.
func (c *Config) removeFolders() {
	for _, address := range c.Listen {
		if path, ok := strings.CutPrefix(address, "unix://"); ok {
			_ = os.Remove(filepath.Dir(path))
		}
	}
}
