package system

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

func nameless(folder string) (*os.File, error) {
	name := filepath.Join(folder, strings.ReplaceAll(namelessPattern, "*", rand.Text()))
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
