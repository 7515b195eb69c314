package main

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/vibeflight/vibeflight/readers/remote/faults"
	"github.com/vibeflight/vibeflight/readers/remote/storetest"
)

func proxy(t *testing.T, endpoint string, plan faults.Plan) *faults.Server {
	t.Helper()
	p, err := faults.NewProxy(endpoint, plan)
	if err != nil {
		t.Fatal(err)
	}
	s, err := faults.Serve(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func onlyReads(r faults.Request) bool { return r.Class == faults.Read }

// Signed requests pass the proxy, as it keeps the Host that clients sign, and each fault is what the SDK
// takes it for.
func TestFaultsOfS3(t *testing.T) {
	store := storetest.S3(t, folder(t))
	tests := []struct {
		fault faults.Fault
		code  string // of the SDK's error
		text  string // of the body
	}{
		{faults.Fault{}, "", "world"},
		{faults.Fault{Kind: faults.SlowDown}, "SlowDown", ""},
		{faults.Fault{Kind: faults.TooManyRequests}, "TooManyRequests", ""},
		{faults.Fault{Kind: faults.InternalError}, "InternalError", ""},
		{faults.Fault{Kind: faults.ExpiredToken}, "ExpiredToken", ""},
		{faults.Fault{Kind: faults.TimeTooSkewed}, "RequestTimeTooSkewed", ""},
		{faults.Fault{Kind: faults.RedirectRegion}, "PermanentRedirect", ""},
		{faults.Fault{Kind: faults.RedirectTemporary}, "", "world"}, // the SDK follows it to the same host
		{faults.Fault{Kind: faults.PreconditionFailed}, "PreconditionFailed", ""},
		{faults.Fault{Kind: faults.ETagChanged}, "", "world"},
		{faults.Fault{Kind: faults.WrongContentRange}, "", "orld\x00"},
		{faults.Fault{Kind: faults.WholeBody}, "", "\x00\x00\x00\x00\x00\x00\x00world"}, // the SDK signs the range
	}
	for _, test := range tests {
		t.Run(string(test.fault.Kind), func(t *testing.T) {
			var plan faults.Plan
			if test.fault.Kind != "" {
				plan = faults.NewScript(onlyReads, test.fault)
			}
			s := proxy(t, store.Endpoint, plan)
			client := s3Client(s.URL, store.Region)
			once := func(o *s3.Options) { o.RetryMaxAttempts = 1 }
			head, err := client.HeadObject(t.Context(),
				&s3.HeadObjectInput{Bucket: &store.Bucket, Key: aws.String("a.txt")}, once)
			if err != nil {
				t.Fatal(err)
			}
			in := &s3.GetObjectInput{
				Bucket: &store.Bucket, Key: aws.String("a.txt"),
				Range: aws.String("bytes=7-11"), IfMatch: head.ETag,
			}
			out, err := client.GetObject(t.Context(), in, once)
			if test.code != "" {
				if codeOf(err) != test.code {
					t.Errorf("got %v, want %s", err, test.code)
				}
			} else if err != nil {
				t.Error(err)
			} else if text := read(t, out.Body); text != test.text {
				t.Errorf("got %q, want %q", text, test.text)
			} else if test.fault.Kind == faults.ETagChanged && *out.ETag == *head.ETag {
				t.Errorf("the ETag is still %s", *out.ETag)
			}
			if test.fault.Kind != "" && s.Stats().Faults[test.fault.Kind] != 1 {
				t.Errorf("counted %v", s.Stats())
			}
		})
	}
}

func TestRegionOfS3(t *testing.T) {
	store := storetest.S3(t, folder(t), "--region", "eu-west-1")
	s := proxy(t, store.Endpoint, nil)
	s.Region = "eu-west-1"
	in := &s3.GetObjectInput{Bucket: &store.Bucket, Key: aws.String("a.txt")}
	if _, err := s3Client(s.URL, "us-east-1").GetObject(t.Context(), in); codeOf(err) != "PermanentRedirect" {
		t.Errorf("another region: %v", err)
	}
	out, err := s3Client(s.URL, "eu-west-1").GetObject(t.Context(), in)
	if err != nil || read(t, out.Body) != "hello, world" {
		t.Errorf("the region: %v", err)
	}
}

func TestFaultyListings(t *testing.T) {
	names := []string{"a.txt", "sub/b.txt", "sub/c d+é.txt"}
	twice := []string{"a.txt", "a.txt", "sub/b.txt", "sub/c d+é.txt"}
	s3List := func(t *testing.T, s *faults.Server, store storetest.Server) (listed []string, looped bool) {
		p := s3.NewListObjectsV2Paginator(s3Client(s.URL, store.Region), &s3.ListObjectsV2Input{Bucket: &store.Bucket})
		for n := 0; p.HasMorePages(); n++ {
			page, err := p.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n == 3 {
				return listed, true
			}
			for _, o := range page.Contents {
				listed = append(listed, *o.Key)
			}
		}
		return listed, false
	}
	gcsList := func(t *testing.T, s *faults.Server, store storetest.Server) (listed []string, looped bool) {
		t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
		client, err := storage.NewClient(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for it := client.Bucket(store.Bucket).Objects(t.Context(), nil); ; {
			o, err := it.Next()
			if errors.Is(err, iterator.Done) {
				return listed, false
			}
			if err != nil {
				t.Fatal(err)
			}
			if listed = append(listed, o.Name); len(listed) == 9 {
				return listed, true
			}
		}
	}
	azureList := func(t *testing.T, s *faults.Server, store storetest.Server) (listed []string, looped bool) {
		p := azureClient(t, s.URL+"/"+azureAccount).NewListBlobsFlatPager(store.Bucket, nil)
		for n := 0; p.More(); n++ {
			page, err := p.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n == 3 {
				return listed, true
			}
			for _, b := range page.Segment.BlobItems {
				listed = append(listed, *b.Name)
			}
		}
		return listed, false
	}
	tests := []struct {
		name  string
		start func(testing.TB, string, ...string) storetest.Server
		list  func(*testing.T, *faults.Server, storetest.Server) ([]string, bool)
		host  func(storetest.Server) string
	}{
		{"S3", storetest.S3, s3List, func(s storetest.Server) string { return s.Endpoint }},
		{"GCS", storetest.GCS, gcsList, func(s storetest.Server) string { return s.Endpoint }},
		{
			"Azure", storetest.Azure, azureList,
			func(s storetest.Server) string { return s.Endpoint[:len(s.Endpoint)-len("/"+azureAccount)] },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := test.start(t, folder(t))
			got, looped := test.list(t, proxy(t, test.host(store), nil), store)
			if !slices.Equal(got, names) || looped {
				t.Errorf("no fault: %q, looped %v", got, looped)
			}
			plan := faults.NewScript(nil, faults.Fault{Kind: faults.DuplicateKeys})
			got, looped = test.list(t, proxy(t, test.host(store), plan), store)
			if !slices.Equal(got, twice) || looped {
				t.Errorf("duplicate keys: %q, looped %v", got, looped)
			}
			plan = faults.NewScript(nil, faults.Fault{Kind: faults.LoopingToken})
			got, looped = test.list(t, proxy(t, test.host(store), plan), store)
			if len(got) != 9 || !looped {
				t.Errorf("looping token: %q, looped %v", got, looped)
			}
		})
	}
}

func TestFaultsOfGCS(t *testing.T) {
	store := storetest.GCS(t, folder(t))
	status := map[faults.Kind]int{
		faults.SlowDown: 503, faults.TooManyRequests: 429, faults.ExpiredToken: 401,
		faults.PreconditionFailed: 412, faults.InternalError: 500,
	}
	for kind, want := range status {
		t.Run(string(kind), func(t *testing.T) {
			plan := faults.NewScript(onlyReads, faults.Fault{Kind: kind})
			s := proxy(t, store.Endpoint, plan)
			t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
			client, err := storage.NewClient(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			client.SetRetry(storage.WithPolicy(storage.RetryNever))
			o := client.Bucket(store.Bucket).Object("a.txt")
			attributes, err := o.Attrs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			o = o.If(storage.Conditions{GenerationMatch: attributes.Generation})
			_, err = o.NewRangeReader(t.Context(), 0, 3)
			if api := (*googleapi.Error)(nil); !errors.As(err, &api) || api.Code != want {
				t.Errorf("got %v, want %d", err, want)
			}
			r, err := o.NewRangeReader(t.Context(), 7, 5)
			if kind.Outcome() == faults.Fails {
				if err == nil {
					t.Error("the overwritten object is readable by its earlier generation")
				}
				return
			}
			if err != nil || read(t, r) != "world" {
				t.Errorf("next read: %v", err)
			}
		})
	}
}

// The HEAD of Azure is HTTP's, and its ranges are in a header of its own.
func TestFaultsOfAzure(t *testing.T) {
	store := storetest.Azure(t, folder(t))
	host := store.Endpoint[:len(store.Endpoint)-len("/"+azureAccount)]
	status := map[faults.Kind]int{
		faults.SlowDown:           503,
		faults.TooManyRequests:    429,
		faults.ExpiredToken:       403,
		faults.PreconditionFailed: 412,
		faults.WholeBody:          200,
	}
	for kind, want := range status {
		t.Run(string(kind), func(t *testing.T) {
			s := proxy(t, host, faults.NewScript(nil, faults.Fault{Kind: kind}))
			client := azureClient(t, s.URL+"/"+azureAccount)
			ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1})
			etag := azcore.ETagAny
			if kind == faults.PreconditionFailed {
				etag = `"0x1"`
			}
			_, err := client.DownloadStream(ctx, store.Bucket, "a.txt", &azblob.DownloadStreamOptions{
				Range: azblob.HTTPRange{Offset: 7, Count: 5},
				AccessConditions: &azblob.AccessConditions{
					ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag},
				},
			})
			got := http.StatusOK
			if api := (*azcore.ResponseError)(nil); errors.As(err, &api) {
				got = api.StatusCode
			}
			if got != want || s.Stats().Faults[kind] != 1 {
				t.Errorf("got %v, want %d; counted %v", err, want, s.Stats())
			}
		})
	}
}
