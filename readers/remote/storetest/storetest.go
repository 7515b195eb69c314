// Package storetest starts object stores for tests: S3, GCS, Azure and plain HTTP on loopback, over a folder.
//
// The stores are those of the program in integration/stores, which `make stores` builds. The environment
// variable VIBEFLIGHT_STORES names it; without it, it is build/stores of this repository. A test is
// skipped, with the reason, if the program or what it needs is missing. VIBEFLIGHT_STORES=require makes
// that a failure.
package storetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Server is a store that runs until its test ends.
type Server struct {
	Kind     string `json:"kind"`
	URL      string `json:"url"`      // names the bucket, with the options that gocloud.dev/blob needs
	Endpoint string `json:"endpoint"` // http://127.0.0.1:port, and the account in Azure
	Bucket   string `json:"bucket"`   // or container, in Azure
	Region   string `json:"region"`

	AccessKey string `json:"access_key"` // or storage account, in Azure
	SecretKey string `json:"secret_key"`

	// Env has the credentials and endpoints in the environment variables of the provider's own clients.
	Env map[string]string `json:"env"`

	PID  int    `json:"pid"`
	Skip string `json:"skip"`
}

// Setenv sets Env for the rest of the test.
func (s Server) Setenv(t *testing.T) {
	t.Helper()
	for name, value := range s.Env {
		t.Setenv(name, value)
	}
}

// S3 starts versitygw over the files of dir, in the bucket data. Flags: --public, --versioning,
// --region r, --latency 10ms.
func S3(t testing.TB, dir string, flags ...string) Server {
	t.Helper()
	return start(t, "s3", append([]string{"--root", dir}, flags...))
}

// S3Keys starts an S3 with the given number of small GeoJSON objects, which are made when they are read. Their keys
// are part=0000/0000000.geojson and so on, 1,000 in each folder.
func S3Keys(t testing.TB, keys string, flags ...string) Server {
	t.Helper()
	return start(t, "s3", append([]string{"--backend", "memory", "--keys", keys}, flags...))
}

// Moto starts moto, another S3, with copies of the files of dir. It does not check signatures.
func Moto(t testing.TB, dir string, flags ...string) Server {
	t.Helper()
	return start(t, "moto", append([]string{"--root", dir}, flags...))
}

// GCS starts fake-gcs-server over the files of dir. Flags: --latency 10ms.
func GCS(t testing.TB, dir string, flags ...string) Server {
	t.Helper()
	return start(t, "gcs", append([]string{"--root", dir}, flags...))
}

// Azure starts azurite with copies of the files of dir. Flags: --public.
func Azure(t testing.TB, dir string, flags ...string) Server {
	t.Helper()
	return start(t, "azure", append([]string{"--root", dir}, flags...))
}

// HTTP starts a web server over the files of dir. Flags: --no-ranges, --no-etag, --no-last-modified,
// --gzip, --latency 10ms.
func HTTP(t testing.TB, dir string, flags ...string) Server {
	t.Helper()
	return start(t, "http", append([]string{"--root", dir}, flags...))
}

// start runs the program until the test ends.
func start(t testing.TB, kind string, args []string) Server {
	t.Helper()
	program := binary()
	if _, err := os.Stat(program); err != nil {
		skip(t, kind, program+" is missing: make stores")
	}
	var log bytes.Buffer
	cmd := exec.Command(program, append([]string{kind}, args...)...)
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		_ = stdin.Close()
		end := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer end.Stop()
		_ = cmd.Wait()
	})
	t.Cleanup(stop)

	line := make(chan []byte, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadBytes('\n')
		line <- text
	}()
	var s Server
	select {
	case text := <-line:
		if err := json.Unmarshal(text, &s); err != nil {
			stop()
			t.Fatalf("%s %s: %v\n%s", program, kind, err, log.Bytes())
		}
	case <-time.After(90 * time.Second):
		_ = cmd.Process.Kill()
		stop()
		t.Fatalf("%s %s: not ready within 90 s\n%s", program, kind, log.Bytes())
	}
	if s.Skip != "" {
		stop()
		skip(t, kind, s.Skip)
	}
	return s
}

const variable = "VIBEFLIGHT_STORES"

// binary returns the path of the program.
func binary() string {
	if path := os.Getenv(variable); path != "" && path != "require" {
		return path
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "build", "stores")
}

func skip(t testing.TB, kind, reason string) {
	t.Helper()
	if os.Getenv(variable) == "require" {
		t.Fatalf("%s: %s", kind, reason)
	}
	t.Skipf("%s: %s", kind, reason)
}
