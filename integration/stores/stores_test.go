package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	gocloud "gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/vibeflight/vibeflight/readers/remote/storetest"
)

// The test binary is the program too, which storetest starts.
func TestMain(m *testing.M) {
	if os.Getenv("STORES_RUN") != "" {
		main()
		return
	}
	here, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	variables := map[string]string{
		"STORES_RUN": "1", "VIBEFLIGHT_STORES": os.Args[0],
		"VIBEFLIGHT_STORES_TOOLS": filepath.Join(here, "..", "..", ".tools"),
	}
	for name, value := range variables {
		if name == "VIBEFLIGHT_STORES_TOOLS" && os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// write replaces a file of the store at once.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh := dir + ".fresh"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, to); err != nil {
		t.Fatal(err)
	}
}

func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "a.txt", "hello, world")
	write(t, dir, "sub/b.txt", "second")
	write(t, dir, "sub/c d+é.txt", "third")
	return dir
}

func read(t testing.TB, r io.ReadCloser) string {
	t.Helper()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func codeOf(err error) string {
	if e := smithy.APIError(nil); errors.As(err, &e) {
		return e.ErrorCode()
	}
	return fmt.Sprint(err)
}

func TestS3(t *testing.T) {
	for _, kind := range []struct {
		name  string
		start func(testing.TB, string, ...string) storetest.Server
	}{{"versitygw", storetest.S3}, {"moto", storetest.Moto}} {
		t.Run(kind.name, func(t *testing.T) {
			dir := folder(t)
			s := kind.start(t, dir)
			client := s3Client(s.Endpoint, s.Region)
			ctx := t.Context()
			get := func(key, byteRange, match string) (*s3.GetObjectOutput, error) {
				in := &s3.GetObjectInput{Bucket: &s.Bucket, Key: &key, Range: &byteRange}
				if match != "" {
					in.IfMatch = &match
				}
				return client.GetObject(ctx, in)
			}
			head, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.Bucket, Key: aws.String("a.txt")})
			if err != nil || *head.ContentLength != 12 {
				t.Fatalf("head: %+v, %v", head, err)
			}
			out, err := get("a.txt", "bytes=7-11", *head.ETag)
			if err != nil {
				t.Fatal(err)
			}
			if text := read(t, out.Body); text != "world" || *out.ContentRange != "bytes 7-11/12" ||
				*out.ETag != *head.ETag {
				t.Errorf("range: %q, %s, %s", text, *out.ContentRange, *out.ETag)
			}
			if out, err = get("sub/c d+é.txt", "bytes=0-", ""); err != nil || read(t, out.Body) != "third" {
				t.Errorf("key with space, plus and accent: %v", err)
			}
			if _, err := get("none", "bytes=0-", ""); codeOf(err) != "NoSuchKey" {
				t.Errorf("missing key: %v", err)
			}
			if _, err := get("a.txt", "bytes=50-", ""); codeOf(err) != "InvalidRange" {
				t.Errorf("range after the end: %v", err)
			}

			if kind.name == "versitygw" {
				write(t, dir, "a.txt", "HELLO, WORLD")
			} else {
				put := &s3.PutObjectInput{
					Bucket: &s.Bucket, Key: aws.String("a.txt"),
					Body: strings.NewReader("HELLO, WORLD"),
				}
				if _, err := client.PutObject(ctx, put); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := get("a.txt", "bytes=7-11", *head.ETag); codeOf(err) != "PreconditionFailed" {
				t.Errorf("If-Match of the earlier version: %v", err)
			}
			if out, err = get("a.txt", "bytes=7-11", ""); err != nil || read(t, out.Body) != "WORLD" {
				t.Errorf("new version: %v", err)
			}

			var keys []string
			pages := s3.NewListObjectsV2Paginator(client,
				&s3.ListObjectsV2Input{Bucket: &s.Bucket, MaxKeys: aws.Int32(2)})
			for n := 0; pages.HasMorePages(); n++ {
				page, err := pages.NextPage(ctx)
				if err != nil || n > 2 {
					t.Fatalf("page %d: %v", n, err)
				}
				for _, o := range page.Contents {
					keys = append(keys, *o.Key)
					if *o.Key == "a.txt" && *o.ETag != *out.ETag {
						t.Errorf("the listing has ETag %s, the object %s", *o.ETag, *out.ETag)
					}
				}
			}
			if want := []string{"a.txt", "sub/b.txt", "sub/c d+é.txt"}; !slices.Equal(keys, want) {
				t.Errorf("listed %q, want %q", keys, want)
			}
		})
	}
}

// An object that was written by S3, and one written in place of it by another program, have ETags of their own.
func TestS3WrittenByBoth(t *testing.T) {
	dir := folder(t)
	s := storetest.S3(t, dir)
	client, ctx := s3Client(s.Endpoint, s.Region), t.Context()
	etag := func() string {
		t.Helper()
		out, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.Bucket, Key: aws.String("a.txt")})
		if err != nil {
			t.Fatal(err)
		}
		return *out.ETag
	}
	first := etag()
	put, err := client.PutObject(ctx,
		&s3.PutObjectInput{Bucket: &s.Bucket, Key: aws.String("a.txt"), Body: strings.NewReader("by S3")})
	if err != nil {
		t.Fatal(err)
	}
	second := etag()
	if second != *put.ETag || second == first {
		t.Errorf("first %s, put %s, then %s", first, *put.ETag, second)
	}
	time.Sleep(10 * time.Millisecond) // file systems have times in ticks
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("BY OS"), 0o644); err != nil {
		t.Fatal(err)
	}
	if third := etag(); third == second {
		t.Errorf("a file written in place keeps ETag %s", third)
	}
}

func TestS3Versions(t *testing.T) {
	s := storetest.S3(t, folder(t), "--versioning")
	client, ctx := s3Client(s.Endpoint, s.Region), t.Context()
	key := aws.String("v.txt")
	var versions []string
	for _, text := range []string{"one", "two"} {
		out, err := client.PutObject(ctx,
			&s3.PutObjectInput{Bucket: &s.Bucket, Key: key, Body: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, *out.VersionId)
	}
	for i, want := range []string{"one", "two"} {
		out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: key, VersionId: &versions[i]})
		if err != nil || read(t, out.Body) != want || *out.VersionId != versions[i] {
			t.Errorf("version %s: %v", versions[i], err)
		}
	}
}

func TestS3ChecksWhoReads(t *testing.T) {
	s := storetest.S3(t, folder(t))
	in := &s3.GetObjectInput{Bucket: &s.Bucket, Key: aws.String("a.txt")}
	wrongSecret := func(o *s3.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: "wrong"}, nil
		})
	}
	anonymous := func(s storetest.Server) *s3.Client {
		return s3.New(s3.Options{
			BaseEndpoint: &s.Endpoint, Region: s.Region, UsePathStyle: true, Credentials: aws.AnonymousCredentials{},
		})
	}
	client := s3Client(s.Endpoint, s.Region)
	if _, err := client.GetObject(t.Context(), in, wrongSecret); codeOf(err) != "SignatureDoesNotMatch" {
		t.Errorf("wrong secret: %v", err)
	}
	if _, err := anonymous(s).GetObject(t.Context(), in); codeOf(err) != "AccessDenied" {
		t.Errorf("anonymous: %v", err)
	}
	elsewhere := s3Client(s.Endpoint, "eu-west-1")
	if _, err := elsewhere.GetObject(t.Context(), in); codeOf(err) != "AuthorizationHeaderMalformed" {
		t.Errorf("another region: %v", err)
	}
	public := storetest.S3(t, folder(t), "--public")
	client = anonymous(public)
	if out, err := client.GetObject(t.Context(), in); err != nil || read(t, out.Body) != "hello, world" {
		t.Errorf("anonymous read of a public bucket: %v", err)
	}
	if out, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &s.Bucket}); err != nil ||
		len(out.Contents) != 3 {
		t.Errorf("anonymous listing of a public bucket: %v", err)
	}
}

func TestGeneratedKeys(t *testing.T) {
	s := storetest.S3Keys(t, "3500")
	client, ctx := s3Client(s.Endpoint, s.Region), t.Context()
	list := func(in s3.ListObjectsV2Input) (keys, prefixes []string, pages int) {
		t.Helper()
		in.Bucket = &s.Bucket
		for p := s3.NewListObjectsV2Paginator(client, &in); p.HasMorePages(); pages++ {
			page, err := p.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page.Contents {
				keys = append(keys, *o.Key)
			}
			for _, c := range page.CommonPrefixes {
				prefixes = append(prefixes, *c.Prefix)
			}
		}
		return keys, prefixes, pages
	}
	keys, _, pages := list(s3.ListObjectsV2Input{})
	if len(keys) != 3500 || pages != 4 || !slices.IsSorted(keys) || keys[3499] != "part=0003/0003499.geojson" {
		t.Errorf("%d keys in %d pages, the last %s", len(keys), pages, keys[len(keys)-1])
	}
	if keys, _, pages := list(s3.ListObjectsV2Input{Prefix: aws.String("part=0003/")}); len(keys) != 500 || pages != 1 {
		t.Errorf("prefix: %d keys in %d pages", len(keys), pages)
	}
	if keys, _, _ := list(s3.ListObjectsV2Input{StartAfter: aws.String("part=0003/0003400.geojson")}); len(keys) != 99 {
		t.Errorf("start-after: %d keys", len(keys))
	}
	want := []string{"part=0000/", "part=0001/", "part=0002/", "part=0003/"}
	for _, limit := range []int32{1, 2, 1000} {
		keys, prefixes, _ := list(s3.ListObjectsV2Input{Delimiter: aws.String("/"), MaxKeys: &limit})
		if len(keys) != 0 || !slices.Equal(prefixes, want) {
			t.Errorf("delimiter, %d in a page: %d keys, prefixes %q", limit, len(keys), prefixes)
		}
	}
	out, err := client.GetObject(ctx,
		&s3.GetObjectInput{Bucket: &s.Bucket, Key: &keys[2], Range: aws.String("bytes=2-5")})
	if err != nil || read(t, out.Body) != "type" {
		t.Errorf("read: %v", err)
	}
}

func TestGCS(t *testing.T) {
	dir := folder(t)
	s := storetest.GCS(t, dir)
	s.Setenv(t)
	ctx := t.Context()
	client, err := storage.NewClient(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetRetry(storage.WithPolicy(storage.RetryNever))
	o := client.Bucket(s.Bucket).Object("a.txt")
	attributes, err := o.Attrs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := o.If(storage.Conditions{GenerationMatch: attributes.Generation})
	r, err := at.NewRangeReader(ctx, 7, 5)
	if err != nil {
		t.Fatal(err)
	}
	if text := read(t, r); text != "world" || r.Attrs.Generation != attributes.Generation || r.Attrs.Size != 12 {
		t.Errorf("range: %q, %+v", text, r.Attrs)
	}
	write(t, dir, "a.txt", "HELLO, WORLD")
	var api *googleapi.Error
	if _, err := at.NewRangeReader(ctx, 7, 5); !errors.As(err, &api) || api.Code != http.StatusPreconditionFailed {
		t.Errorf("the earlier generation: %v", err)
	}
	if _, err := o.Generation(attributes.Generation).NewReader(ctx); !errors.Is(err, storage.ErrObjectNotExist) {
		t.Errorf("the object of the earlier generation: %v", err)
	}
	if r, err = o.NewReader(ctx); err != nil || read(t, r) != "HELLO, WORLD" {
		t.Errorf("new version: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "sub", "b.txt")); err != nil {
		t.Fatal(err)
	}
	var names []string
	for it := client.Bucket(s.Bucket).Objects(ctx, nil); ; {
		it.PageInfo().MaxSize = 1
		o, err := it.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
	}
	if want := []string{"a.txt", "sub/c d+é.txt"}; !slices.Equal(names, want) {
		t.Errorf("listed %q, want %q", names, want)
	}
}

func TestAzure(t *testing.T) {
	s := storetest.Azure(t, folder(t))
	ctx := t.Context()
	client := azureClient(t, s.Endpoint)
	out, err := client.DownloadStream(ctx, s.Bucket, "a.txt",
		&azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 7, Count: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if text := read(t, out.Body); text != "world" || *out.ContentRange != "bytes 7-11/12" {
		t.Errorf("range: %q, %s", text, *out.ContentRange)
	}
	if _, err := client.UploadBuffer(ctx, s.Bucket, "a.txt", []byte("HELLO, WORLD"), nil); err != nil {
		t.Fatal(err)
	}
	conditions := &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: out.ETag}}
	_, err = client.DownloadStream(ctx, s.Bucket, "a.txt", &azblob.DownloadStreamOptions{AccessConditions: conditions})
	if api := (*azcore.ResponseError)(nil); !errors.As(err, &api) || api.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("If-Match of the earlier version: %v", err)
	}
	var names []string
	pages := 0
	for p := client.NewListBlobsFlatPager(s.Bucket,
		&azblob.ListBlobsFlatOptions{MaxResults: to(int32(2))}); p.More(); pages++ {
		page, err := p.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range page.Segment.BlobItems {
			names = append(names, *b.Name)
		}
	}
	if want := []string{"a.txt", "sub/b.txt", "sub/c d+é.txt"}; !slices.Equal(names, want) || pages != 2 {
		t.Errorf("listed %q in %d pages, want %q in 2", names, pages, want)
	}
}

func to[T any](v T) *T { return &v }

func azureClient(t testing.TB, endpoint string) *azblob.Client {
	t.Helper()
	credential, err := azblob.NewSharedKeyCredential(azureAccount, azureKey)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential(endpoint, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestHTTP(t *testing.T) {
	tests := []struct {
		name   string
		flags  []string
		header http.Header
		status int
		body   string
		check  func(http.Header) bool
	}{
		{"range", nil, http.Header{"Range": {"bytes=7-11"}}, 206, "world", func(h http.Header) bool {
			return h.Get("ETag") != "" && h.Get("Last-Modified") != "" && h.Get("Content-Range") == "bytes 7-11/12"
		}},
		{"condition", nil, http.Header{"If-Match": {`"x"`}}, 412, "", func(http.Header) bool { return true }},
		{
			"no ranges",
			[]string{"--no-ranges"},
			http.Header{"Range": {"bytes=7-11"}},
			200, "hello, world",
			func(h http.Header) bool {
				return h.Get("Accept-Ranges") == "" && h.Get("Content-Range") == "" && h.Get("Content-Length") == "12"
			},
		},
		{"no ETag", []string{"--no-etag"}, nil, 200, "hello, world", func(h http.Header) bool {
			return h.Get("ETag") == "" && h.Get("Last-Modified") != ""
		}},
		{
			"no identity",
			[]string{"--no-etag", "--no-last-modified"},
			nil, 200, "hello, world",
			func(h http.Header) bool {
				return h.Get("ETag") == "" && h.Get("Last-Modified") == ""
			},
		},
		{
			"gzip",
			[]string{"--gzip"},
			http.Header{"Accept-Encoding": {"gzip"}},
			200, "\x1f\x8b",
			func(h http.Header) bool {
				return h.Get("Content-Encoding") == "gzip" && h.Get("Content-Length") == "" &&
					strings.HasPrefix(h.Get("ETag"), "W/")
			},
		},
		{
			"gzip and range",
			[]string{"--gzip"},
			http.Header{"Accept-Encoding": {"gzip"}, "Range": {"bytes=7-11"}},
			206, "world",
			func(h http.Header) bool { return h.Get("Content-Encoding") == "" },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.HTTP(t, folder(t), test.flags...)
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.Endpoint+"/a.txt", nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, values := range test.header {
				r.Header[name] = values
			}
			res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if body := read(t, res.Body); res.StatusCode != test.status || !strings.HasPrefix(body, test.body) ||
				!test.check(res.Header) {
				t.Errorf("status %d, body %q, header %v", res.StatusCode, body, res.Header)
			}
		})
	}
}

func TestLatency(t *testing.T) {
	for _, start := range []func(testing.TB, string, ...string) storetest.Server{
		storetest.HTTP, storetest.S3, storetest.GCS,
	} {
		s := start(t, folder(t), "--latency", "30ms")
		began := time.Now()
		res, err := http.Get(s.Endpoint + "/data/a.txt")
		if err != nil {
			t.Fatal(err)
		}
		read(t, res.Body)
		if took := time.Since(began); took < 30*time.Millisecond {
			t.Errorf("%s answers after %v", s.Kind, took)
		}
	}
}

// The announced URL and environment are what gocloud.dev/blob needs to read a range.
func TestGoCloud(t *testing.T) {
	tests := []struct {
		name   string
		start  func(testing.TB, string, ...string) storetest.Server
		flags  []string
		suffix string // of the URL
	}{
		{"S3", storetest.S3, nil, ""},
		{"anonymous S3", storetest.S3, []string{"--public"}, "&anonymous=true"},
		{"moto", storetest.Moto, nil, ""},
		{"GCS", storetest.GCS, nil, ""},
		{"anonymous GCS", storetest.GCS, nil, "?anonymous=true"},
		{"Azure", storetest.Azure, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.start(t, folder(t), test.flags...)
			s.Setenv(t)
			ctx := t.Context()
			bucket, err := gocloud.OpenBucket(ctx, s.URL+test.suffix)
			if err != nil {
				t.Fatal(err)
			}
			defer bucket.Close()
			r, err := bucket.NewRangeReader(ctx, "sub/c d+é.txt", 1, 3, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := read(t, r); text != "hir" || r.Size() != 5 {
				t.Errorf("read %q of %d bytes", text, r.Size())
			}
			attributes, err := bucket.Attributes(ctx, "a.txt")
			if err != nil || attributes.Size != 12 || attributes.ETag == "" {
				t.Errorf("attributes %+v, %v", attributes, err)
			}
			page, _, err := bucket.ListPage(ctx, gocloud.FirstPageToken, 10, nil)
			if err != nil || len(page) != 3 {
				t.Errorf("page %v, %v", page, err)
			}
		})
	}
}

// While a file is replaced again and again, no read under a condition sees another version's bytes.
func TestReadsWhileReplaced(t *testing.T) {
	const size = 30_000
	dir := t.TempDir()
	version := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), size) }
	write(t, dir, "v", version(0))
	tests := []struct {
		name  string
		start func(testing.TB, string, ...string) storetest.Server
		flags []string
		path  string
		id    func(http.Header) string
		want  string // the header of the condition
	}{
		{
			"S3", storetest.S3,
			[]string{"--public"},
			"/data/v", func(h http.Header) string { return h.Get("ETag") },
			"If-Match",
		},
		{
			"GCS", storetest.GCS, nil, "/data/v", func(h http.Header) string { return h.Get("X-Goog-Generation") },
			"X-Goog-If-Generation-Match",
		},
		{"HTTP", storetest.HTTP, nil, "/v", func(h http.Header) string { return h.Get("ETag") }, "If-Match"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.start(t, dir, test.flags...)
			var mu sync.Mutex
			seen := map[string]byte{} // which letter an identity has
			get := func(id string, offset int) (letter byte, ok bool) {
				r, _ := http.NewRequestWithContext(t.Context(), "GET", s.Endpoint+test.path, nil)
				r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+size/3-1))
				if id != "" {
					r.Header.Set(test.want, id)
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return 0, false
				}
				body := read(t, res.Body)
				if res.StatusCode == http.StatusPreconditionFailed || res.StatusCode == http.StatusServiceUnavailable {
					return 0, false
				}
				if res.StatusCode != 206 || len(body) != size/3 ||
					!bytes.Equal([]byte(body), bytes.Repeat([]byte(body[:1]), size/3)) {
					t.Errorf("status %d, %d bytes, mixed", res.StatusCode, len(body))
					return 0, false
				}
				mu.Lock()
				defer mu.Unlock()
				got := test.id(res.Header)
				if before, ok := seen[got]; ok && before != body[0] {
					t.Errorf("identity %s is of %q and of %q", got, before, body[0])
				}
				seen[got] = body[0]
				if id != "" && got != id {
					t.Errorf("condition %s, and the answer is of %s", id, got)
				}
				return body[0], true
			}
			done := make(chan struct{})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for id := ""; ; {
						select {
						case <-done:
							return
						default:
						}
						if _, ok := get(id, size/3); !ok {
							id = ""
							continue
						}
						mu.Lock()
						for id = range seen { // any
							break
						}
						mu.Unlock()
					}
				})
			}
			for i := range 1500 {
				write(t, dir, "v", version(i))
			}
			close(done)
			wg.Wait()
			if len(seen) < 5 {
				t.Errorf("only %d versions were seen", len(seen))
			}
		})
	}
}
