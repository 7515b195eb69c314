// Package pgtest starts PostgreSQL and PgBouncer for tests, in folders of their own.
package pgtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a PostgreSQL server, or a PgBouncer, that a test can kill and start again.
type Server struct {
	Port int

	name    string
	command func() *exec.Cmd

	mu  sync.Mutex
	cmd *exec.Cmd
}

// Postgres is a PostgreSQL server with databases for tests.
type Postgres struct {
	*Server
	dir       string
	databases atomic.Int64
}

// password is that of the only user.
const password = "p@ss:word/1"

var (
	shared     *Postgres
	sharedErr  error
	sharedOnce sync.Once
)

// Main runs the tests of a package, and stops its server. It is for TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if shared != nil {
		shared.Kill()
		_ = os.RemoveAll(shared.dir)
	}
	return code
}

// Start returns the server of the test binary, which it starts if needed. The package needs a
// TestMain with Main. The test is skipped if PostgreSQL is not installed.
func Start(t testing.TB) *Postgres {
	t.Helper()
	bin := binaries(t)
	sharedOnce.Do(func() { shared, sharedErr = start(bin) })
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared
}

// StartOwn starts a server for one test, which may kill it. settings are more of postgresql.conf, as
// name=value.
func StartOwn(t testing.TB, settings ...string) *Postgres {
	t.Helper()
	p, err := start(binaries(t), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		_ = os.RemoveAll(p.dir)
	})
	return p
}

// binaries returns the folder of PostgreSQL's programs.
func binaries(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		t.Skip("PostgreSQL is not installed: there is no initdb")
	}
	return filepath.Dir(path)
}

// folder makes a folder that belongs to the user of the servers. The path is short, because that of
// a socket has a limit.
func folder(attr *syscall.SysProcAttr) (string, error) {
	dir, err := os.MkdirTemp("", "pgtest-")
	if err == nil {
		err = give(dir, attr)
	}
	return dir, err
}

func start(bin string, settings ...string) (*Postgres, error) {
	attr, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := folder(attr)
	if err != nil {
		return nil, err
	}
	secret := filepath.Join(dir, "password")
	if err := write(secret, password, attr); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "vf", "-A", "scram-sha-256",
		"--pwfile", secret, "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &Postgres{dir: dir, Server: &Server{Port: port, name: "postgres", command: func() *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-p", strconv.Itoa(port),
			"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off",
			"-c", "shared_buffers=64MB", "-c", "max_connections=300", "-c", "logging_collector=off")
		for _, s := range settings {
			cmd.Args = append(cmd.Args, "-c", s)
		}
		cmd.SysProcAttr, cmd.Dir = attr, dir
		return cmd
	}}}
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

// Certificate returns the settings for TLS with a certificate for 127.0.0.1, and the file of the
// certificate.
func Certificate(t testing.TB) (settings []string, path string) {
	t.Helper()
	attr, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := folder(attr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "server.crt")
	keyPath := filepath.Join(dir, "server.key")
	for path, block := range map[string]*pem.Block{
		path: {Type: "CERTIFICATE", Bytes: cert}, keyPath: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := write(path, string(pem.EncodeToMemory(block)), attr); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"ssl=on", "ssl_cert_file=" + path, "ssl_key_file=" + keyPath}, path
}

func write(path, text string, attr *syscall.SysProcAttr) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return give(path, attr)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// start starts the process and waits until it accepts connections.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd := s.command()
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := s.ping()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return fmt.Errorf("%s does not start: %w: %s", s.name, err, log)
		}
	}
}

func (s *Server) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, "SELECT 1", pgx.QueryExecModeExec)
	return err
}

// URL returns the URL of a database.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://vf:p%%40ss%%3Aword%%2F1@127.0.0.1:%d/%s?sslmode=disable", s.Port, database)
}

// Password returns the password in the URL.
func Password() string { return password }

// Kill kills the server with SIGKILL. Its children notice that and end.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Restart starts a server that was killed.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	var err error
	for range 5 { // the children of the killed server may still have its memory
		if err = s.start(); err == nil {
			return
		}
		s.Kill()
	}
	t.Fatal(err)
}

// Pause stops the server from answering, without closing its connections, until resume is called.
func (s *Server) Pause(t testing.TB) (resume func()) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	process := s.cmd.Process
	if err := pause(process); err != nil {
		t.Fatal(err)
	}
	return func() { resumeProcess(process) }
}

// Database makes an empty database and returns its name.
func (p *Postgres) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", p.databases.Add(1))
	p.Exec(t, "postgres", "CREATE DATABASE "+name)
	return name
}

// Exec executes statements in a database.
func (p *Postgres) Exec(t testing.TB, database, statements string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, p.URL(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.Exec(ctx, statements); err != nil {
		t.Fatal(err)
	}
}

// Bouncer starts a PgBouncer in front of the server, which pools transactions, until the end of the
// test. The test is skipped if PgBouncer is not installed.
func (p *Postgres) Bouncer(t testing.TB) *Server {
	t.Helper()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		if bin = "/usr/sbin/pgbouncer"; !isFile(bin) {
			t.Skip("PgBouncer is not installed")
		}
	}
	attr, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := folder(attr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	users, config := filepath.Join(dir, "users.txt"), filepath.Join(dir, "pgbouncer.ini")
	if err := write(users, `"vf" "`+password+`"`+"\n", attr); err != nil {
		t.Fatal(err)
	}
	if err := write(config, fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
server_login_retry = 1
`, p.Port, port, users), attr); err != nil {
		t.Fatal(err)
	}
	s := &Server{Port: port, name: "pgbouncer", command: func() *exec.Cmd {
		cmd := exec.Command(bin, config)
		cmd.SysProcAttr, cmd.Dir = attr, dir
		return cmd
	}}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
