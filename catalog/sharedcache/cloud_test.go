//go:build !nocloud

package sharedcache

import (
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/remote/cloud"
	"github.com/vibeflight/vibeflight/readers/remote/storetest"
)

// TestBuckets is the contract with each kind of object store.
func TestBuckets(t *testing.T) {
	openers := remote.Openers{"s3": cloud.OpenS3, "gs": cloud.OpenGCS, "az": cloud.OpenAzure}
	for name, start := range map[string]func(t testing.TB, dir string, flags ...string) storetest.Server{
		"S3": storetest.S3, "GCS": storetest.GCS, "Azure": storetest.Azure, "moto": storetest.Moto,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, t.TempDir())
			s.Setenv(t)
			scheme, rest, _ := strings.Cut(strings.Replace(s.URL, "azblob://", "az://", 1), "://")
			bucket, options, _ := strings.Cut(rest, "?")
			testStore(t, func() Store {
				root, err := openers.Open(t.Context(), scheme+"://"+bucket+"/a/prefix?"+options,
					BucketOptions(20*time.Second))
				must(t, err)
				return Bucket(root)
			})
		})
	}
}
