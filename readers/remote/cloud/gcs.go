//go:build !nocloud

package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// OpenGCS opens gs://bucket/prefix. Options of the URL: anonymous, and endpoint for another server
// than Google's.
func OpenGCS(ctx context.Context, u *url.URL) (remote.Store, error) {
	p := &gcsProvider{access{
		provider: "Google", advice: "set GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login",
		public: "; for a public bucket, add ?anonymous=true to the URL",
	}}
	var options []option.ClientOption
	for key, values := range u.Query() {
		switch value := values[0]; key {
		case "anonymous":
			var err error
			if p.anonymous, err = boolOption(key, value); err != nil {
				return nil, err
			}
		case "endpoint":
			options = append(options, option.WithEndpoint(value))
		default:
			return nil, fmt.Errorf("unknown option %q", key)
		}
	}
	transport := newTransport()
	client := gcp.NewAnonymousHTTPClient(answerChecker{transport})
	if !p.anonymous {
		wait, cancel := context.WithTimeout(ctx, credentialsWait)
		defer cancel()
		credentials, err := gcp.DefaultCredentials(wait)
		if err == nil {
			client, err = gcp.NewHTTPClient(answerChecker{transport}, gcp.CredentialsTokenSource(credentials))
		}
		if err != nil {
			p.anonymous, p.without = true, true
		}
	}
	own, err := storage.NewClient(ctx, append(options, option.WithHTTPClient(&client.Client))...)
	if err != nil {
		return nil, err
	}
	own.SetRetry(storage.WithPolicy(storage.RetryNever)) // package remote repeats requests
	opened, err := gcsblob.OpenBucket(ctx, nil, u.Host, &gcsblob.Options{Client: own})
	if err != nil {
		return nil, err
	}
	return &bucket{provider: p, blob: opened, prefix: folderOf(u.Path), transport: transport}, nil
}

// answerChecker compares the generation, the range and the encoding of each answer with those that
// were requested. Google's client continues a read that was cut without looking at them.
type answerChecker struct{ http.RoundTripper }

func (c answerChecker) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusPartialContent {
		return answer, err
	}
	if wrong := wrongAnswer(r, answer); wrong != nil {
		_ = answer.Body.Close()
		return nil, wrong
	}
	return answer, nil
}

// wrongAnswer returns why an answer is not what was requested, or nil.
func wrongAnswer(r *http.Request, answer *http.Response) error {
	want := cmp.Or(r.Header.Get("X-Goog-If-Generation-Match"), r.URL.Query().Get("ifGenerationMatch"))
	have := answer.Header.Get("X-Goog-Generation")
	if want != "" && have != "" && want != have {
		return &remote.Failure{Kind: remote.Changed, Err: fmt.Errorf("was generation %s, is %s", want, have)}
	}
	var first, last int64
	if n, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n != 2 || err != nil {
		return nil
	}
	if f := remote.CheckEncoding(answer.Header.Get("Content-Encoding")); f != nil {
		return f
	}
	text := answer.Header.Get("Content-Range")
	if from, to := rangeOf(text); from != first || to > last+1 {
		err := fmt.Errorf("the answer has the range %.60q, for bytes %d to %d", text, first, last)
		return &remote.Failure{Kind: remote.Transient, Err: err}
	}
	return nil
}

// gcsProvider implements provider.
type gcsProvider struct{ access }

func (p *gcsProvider) listed(o *blob.ListObject) source.ObjectVersion {
	var attrs storage.ObjectAttrs
	o.As(&attrs)
	return generation(attrs.Generation)
}

func (p *gcsProvider) described(a *blob.Attributes) source.ObjectVersion {
	var attrs storage.ObjectAttrs
	a.As(&attrs)
	return generation(attrs.Generation)
}

func generation(n int64) source.ObjectVersion {
	return source.ObjectVersion("generation:" + strconv.FormatInt(n, 10))
}

func (p *gcsProvider) pin(as func(any) bool, version source.ObjectVersion) error {
	text, _ := strings.CutPrefix(string(version), "generation:")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	var handle **storage.ObjectHandle
	if as(&handle) {
		// Without ReadCompressed, the store unpacks objects with a Content-Encoding on the way.
		*handle = (*handle).If(storage.Conditions{GenerationMatch: n}).ReadCompressed(true)
	}
	return nil
}

func (p *gcsProvider) answered(r *blob.Reader) (source.ObjectVersion, string, int64, int64) {
	var own *storage.Reader
	if !r.As(&own) {
		return "", "", 0, -1
	}
	return generation(own.Attrs.Generation), own.Attrs.ContentEncoding, own.Attrs.StartOffset,
		own.Attrs.StartOffset + own.Remain()
}

func (p *gcsProvider) failure(err error) *remote.Failure {
	var changed *remote.Failure
	if errors.As(err, &changed) {
		return changed
	}
	var answer *googleapi.Error
	if errors.Is(err, storage.ErrObjectNotExist) || errors.Is(err, storage.ErrBucketNotExist) ||
		!errors.As(err, &answer) {
		return nil
	}
	what := fmt.Errorf("status %d %s of Google Cloud Storage", answer.Code, http.StatusText(answer.Code))
	if answer.Message != "" {
		what = fmt.Errorf("%w: %.200s", what, answer.Message)
	}
	header := answer.Header
	if header == nil {
		header = http.Header{}
	}
	f := statusFailure(answer.Code, header, what, p.hint())
	f.Err = briefError{what.Error(), err}
	return f
}

func (p *gcsProvider) unreadable(r rune) bool { return r == '\n' || r == '\r' }
