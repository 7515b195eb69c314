package storetest_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote/storetest"
)

// Each store serves the files of the folder, and its process ends with the test.
func TestStores(t *testing.T) {
	tests := []struct {
		name  string
		start func(testing.TB, string, ...string) storetest.Server
		flags []string
		path  string
		want  int
	}{
		{"HTTP", storetest.HTTP, nil, "/a/b.txt", 200},
		{"S3", storetest.S3, nil, "/data/a/b.txt", 403},
		{"public S3", storetest.S3, []string{"--public"}, "/data/a/b.txt", 200},
		{"GCS", storetest.GCS, nil, "/data/a/b.txt", 200},
		{"Azure", storetest.Azure, nil, "/data/a/b.txt", 403},
		{"public Azure", storetest.Azure, []string{"--public"}, "/data/a/b.txt", 200},
		{"Moto", storetest.Moto, nil, "/data/a/b.txt", 403},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "a", "b.txt"), []byte("text"), 0o644); err != nil {
				t.Fatal(err)
			}
			var s storetest.Server
			t.Run("runs", func(t *testing.T) {
				s = test.start(t, dir, test.flags...)
				res, err := http.Get(s.Endpoint + test.path)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != test.want || (test.want == 200 && string(body) != "text") {
					t.Errorf("status %d, body %q, %v; want %d", res.StatusCode, body, err, test.want)
				}
			})
			if s.PID == 0 {
				t.Skip("the store does not run on this machine, as told above")
			}
			pid := strconv.Itoa(s.PID)
			for range 100 {
				if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("process %s still runs", pid)
		})
	}
}
