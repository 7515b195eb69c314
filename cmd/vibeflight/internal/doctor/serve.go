package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/readers/all"
)

// examineData examines the data folders. It also returns the number of folders in them.
func (c *Checkup) examineData(ctx context.Context) (folders int64, findings []Finding) {
	if len(c.Serve.Data) == 0 {
		return 0, []Finding{{
			Name: "data", Found: "not looked for",
			Advice: "serve needs --data, or VIBEFLIGHT_DATA; doctor checks its files",
		}}
	}
	for _, data := range c.Serve.Data {
		n, f := examineRoot(ctx, data)
		folders += n
		findings = append(findings, f)
	}
	return folders, findings
}

func examineRoot(ctx context.Context, data string) (folders int64, f Finding) {
	f = Finding{Name: "data", Fatal: true, Advice: "--data names a folder that can be read, as DIR or ALIAS=DIR"}
	root, err := catalog.ParseRoot(data)
	if err != nil {
		f.Found = err.Error()
		return 0, f
	}
	at := filepath.Join(root.Dir, root.Only)
	entries, err := localfile.Walk(ctx, at, "", "", nil)
	if err == nil && root.Only == "" {
		folders, err = countFolders(at)
	}
	if err != nil {
		f.Found = output.ErrorText(err)
		return 0, f
	}
	var bytes int64
	formats := map[string]bool{}
	for _, e := range entries {
		bytes += e.Bytes
		formats[e.Format] = true
	}
	f = Finding{Name: "data", OK: len(entries) > 0}
	f.Found = fmt.Sprintf("%s: %s (%s), %s", data, units.Counted(int64(len(entries)), "file"),
		strings.Join(slices.Sorted(maps.Keys(formats)), ", "), units.Bytes(bytes))
	if !f.OK {
		f.Found, f.Advice = data+": no file that is read", "formats are "+localfile.FormatNames(all.Formats())
	}
	return folders, f
}

// countFolders counts the folders that a server would watch.
func countFolders(root string) (n int64, err error) {
	err = filepath.WalkDir(root+string(filepath.Separator), func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case n > 0 && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		n++
		return nil
	})
	return n, err
}

// examineListen reports for each address whether serve can listen on it.
func (c *Checkup) examineListen(ctx context.Context) []Finding {
	var findings []Finding
	for _, address := range c.Serve.Listen {
		f := Finding{Name: "listen", OK: true, Found: address + " is free"}
		err := tryListen(address)
		switch {
		case err != nil && c.answers(ctx, address):
			f.Found = address + ": a vibeflight server answers there"
		case err != nil:
			f = Finding{
				Name: "listen", Fatal: true, Found: address + ": " + err.Error(),
				Advice: "--listen sets another address; ss -ltnp shows which process uses one",
			}
		}
		findings = append(findings, f)
	}
	return findings
}

// tryListen listens on an address for a moment. For a unix socket it checks only the folder, since
// listening would replace a file.
func tryListen(address string) error {
	path, unixSocket := strings.CutPrefix(address, "unix://")
	if !unixSocket {
		l, err := net.Listen("tcp", address)
		if err != nil {
			var call *net.OpError
			if errors.As(err, &call) {
				err = call.Err
			}
			return err
		}
		return l.Close()
	}
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close() // it was only a test
		return errors.New("another server listens there")
	}
	if err := unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s: %w", filepath.Dir(path), err)
	}
	return nil
}

// examineTLS examines the certificate as clients do.
func (c *Checkup) examineTLS() []Finding {
	if c.Serve.TLSCert == "" && c.Serve.TLSKey == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.Serve.TLSCert, c.Serve.TLSKey)
	if err != nil {
		return []Finding{{
			Name: "TLS", Fatal: true, Found: output.ErrorText(err),
			Advice: "--tls-cert and --tls-key name PEM files that belong together, and that can be read",
		}}
	}
	leaf := pair.Leaf
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	f := Finding{Name: "TLS", OK: true, Found: fmt.Sprintf("%s, valid to %s", strings.Join(names, ", "),
		leaf.NotAfter.Format(time.DateOnly))}
	if now := time.Now(); now.After(leaf.NotAfter) || now.Before(leaf.NotBefore) {
		f.OK, f.Advice = false, "clients refuse a certificate that has expired or is not valid yet (from "+
			leaf.NotBefore.Format(time.DateOnly)+")"
	}
	return []Finding{f}
}

// answers reports whether a vibeflight server answers at an address, with any certificate.
func (c *Checkup) answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	server := target.Server{Address: address}
	if c.Serve.TLSCert != "" && !strings.Contains(address, "://") {
		server = target.Server{Address: "grpc+tls://" + address, Unverified: true}
	}
	r, err := server.Dial()
	if err != nil {
		return false
	}
	defer r.Close()
	return r.Answers(ctx)
}

// examineCache reports whether the cache folder can be written, its tables, and the free space of
// its disk.
func (c *Checkup) examineCache(ctx context.Context) Finding {
	f := Finding{Name: "cache", Advice: "tables are parsed again after each start, and kernels compiled; " +
		"--cache-dir names a folder that can be written"}
	dir := settings.CacheDir(c.Serve.CacheDir)
	if dir == "" {
		f.Found = "none"
		return f
	}
	err := os.MkdirAll(dir, 0o700)
	var free int64
	if err == nil {
		free, err = roomIn(dir)
	}
	var tables []catalog.CachedTable
	if err == nil {
		tables, err = catalog.ListCache(ctx, dir, all.Formats(), zerolog.Nop())
	}
	if err != nil {
		f.Found = output.ErrorText(err)
		return f
	}
	f = Finding{Name: "cache", OK: true, Found: dir}
	var used int64
	for _, t := range tables {
		used += t.Bytes
	}
	if len(tables) > 0 {
		f.Found += fmt.Sprintf(", %s of %s", units.Counted(int64(len(tables)), "table"), units.Bytes(used))
	}
	f.Found += ", " + units.Bytes(free) + " free"
	if limit := int64(c.Serve.CacheBytes); used+free < limit {
		f.Advice = fmt.Sprintf("it may grow to %s (--cache-bytes), more than is free on its disk",
			units.Bytes(limit))
	}
	return f
}
