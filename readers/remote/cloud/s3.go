//go:build !nocloud

package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// OpenS3 opens s3://bucket/prefix. The options of the URL are those of gocloud.dev/blob/s3blob. The
// region is learned from the store's redirect if it is not given, or is wrong.
func OpenS3(ctx context.Context, u *url.URL) (remote.Store, error) {
	p := &s3Provider{access: access{
		provider: "AWS", advice: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
		public: ", and neither is the bucket public",
	}}
	query := u.Query()
	pathStyle := false
	for _, key := range []string{"use_path_style", "s3ForcePathStyle"} {
		if text := query.Get(key); text != "" {
			var err error
			if pathStyle, err = boolOption(key, text); err != nil {
				return nil, err
			}
			query.Del(key)
		}
	}
	cfg, err := gcaws.V2ConfigFromURLParams(ctx, query)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	cfg.Logger = logging.Nop{} // it would be told of each answer without a checksum
	transport := newTransport()
	cfg.HTTPClient = &http.Client{Transport: transport}
	if text := query.Get("anonymous"); text != "" {
		if p.anonymous, err = boolOption("anonymous", text); err != nil {
			return nil, err
		}
	}
	p.credentials = cfg.Credentials
	if !p.anonymous {
		wait, cancel := context.WithTimeout(ctx, credentialsWait)
		_, err := cfg.Credentials.Retrieve(wait)
		cancel()
		if err != nil {
			p.anonymous, p.without = true, true
		}
	}
	open := func(region string, anonymous bool) (*blob.Bucket, error) {
		client := s3.NewFromConfig(cfg, func(o *s3.Options) {
			o.UsePathStyle, o.Region = pathStyle, region
			o.Retryer = aws.NopRetryer{} // package remote repeats requests
			if anonymous {
				o.Credentials = aws.AnonymousCredentials{}
			}
		})
		return s3blob.OpenBucket(ctx, client, u.Host, nil)
	}
	opened, err := open(cfg.Region, p.anonymous)
	if err != nil {
		return nil, err
	}
	b := &bucket{provider: p, blob: opened, prefix: folderOf(u.Path), transport: transport}
	return &s3Store{bucket: b, provider: p, configured: cfg.Region, region: cfg.Region, open: open}, nil
}

// s3Store opens its bucket anew for another region, or without credentials, when the store's answer
// asks for that.
type s3Store struct {
	provider *s3Provider
	open     func(region string, anonymous bool) (*blob.Bucket, error)

	configured string // region

	mu     sync.Mutex
	bucket *bucket
	region string
}

func (s *s3Store) current() *bucket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bucket
}

// reopened returns a bucket opened anew, or nil. An empty region is the present one.
func (s *s3Store) reopened(b *bucket, anonymous bool, region string) *bucket {
	s.mu.Lock()
	region = cmp.Or(region, s.region)
	s.mu.Unlock()
	opened, err := s.open(region, anonymous)
	if err != nil {
		return nil
	}
	return &bucket{provider: b.provider, blob: opened, prefix: b.prefix, transport: b.transport}
}

// replace makes a bucket the present one, unless another request did it.
func (s *s3Store) replace(old, opened *bucket, region string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bucket == old {
		s.bucket = opened
		if region != "" {
			s.region = region
		}
	}
}

// maxReopened is how often one request has the bucket opened anew.
const maxReopened = 3

// try makes a request. It makes it again in the region that the store names, and without
// credentials if these are refused: a bucket may be public.
func (s *s3Store) try(request func(b *bucket) error) error {
	for range maxReopened {
		b := s.current()
		err := request(b)
		if err == nil {
			return nil
		}
		if s.follow(b, err) {
			continue
		}
		if f := new(remote.Failure); errors.As(err, &f) && f.Kind == remote.Denied && !s.provider.anonymous {
			if public := s.reopened(b, true, ""); public != nil && request(public) == nil {
				s.replace(b, public, "")
				return nil
			}
		}
		return err
	}
	return request(s.current())
}

// follow opens the bucket in the region that a store's answer names. It reports whether the request
// is to be made again. A store that does not accept that region has the configured one.
func (s *s3Store) follow(failed *bucket, err error) bool {
	region := regionOf(err)
	s.mu.Lock()
	if region == "" && s.region != s.configured && isBadRequest(err) {
		region = s.configured
	}
	same := region == "" || region == s.region
	s.mu.Unlock()
	if same {
		return false
	}
	opened := s.reopened(failed, s.provider.anonymous, region)
	if opened == nil {
		return false
	}
	s.replace(failed, opened, region)
	return true
}

func (s *s3Store) List(ctx context.Context, prefix string, at remote.Place) (
	page []remote.Object, next remote.Place, err error,
) {
	err = s.try(func(b *bucket) (err error) { page, next, err = b.List(ctx, prefix, at); return err })
	return page, next, err
}

func (s *s3Store) Stat(ctx context.Context, key string) (o remote.Object, err error) {
	err = s.try(func(b *bucket) (err error) { o, err = b.Stat(ctx, key); return err })
	return o, err
}

func (s *s3Store) Read(ctx context.Context, o remote.Object, from, to int64) (r io.ReadCloser, err error) {
	err = s.try(func(b *bucket) (err error) { r, err = b.Read(ctx, o, from, to); return err })
	return r, err
}

func (s *s3Store) Close() error { return s.current().Close() }

// s3Provider implements provider.
type s3Provider struct {
	access
	credentials aws.CredentialsProvider
}

func (p *s3Provider) listed(o *blob.ListObject) source.ObjectVersion {
	var object types.Object
	o.As(&object)
	return etag(aws.ToString(object.ETag))
}

func (p *s3Provider) described(a *blob.Attributes) source.ObjectVersion { return etag(a.ETag) }

// etag returns the version of an object. Lists and answers of S3 both quote it.
func etag(tag string) source.ObjectVersion {
	if tag == "" {
		return "date"
	}
	return source.ObjectVersion(`etag:"` + strings.Trim(tag, `"`) + `"`)
}

func (p *s3Provider) pin(as func(any) bool, version source.ObjectVersion) error {
	var in *s3.GetObjectInput
	if tag, ok := strings.CutPrefix(string(version), "etag:"); ok && as(&in) {
		in.IfMatch = aws.String(tag)
	}
	return nil
}

func (p *s3Provider) answered(r *blob.Reader) (source.ObjectVersion, string, int64, int64) {
	var out s3.GetObjectOutput
	r.As(&out)
	from, to := rangeOf(aws.ToString(out.ContentRange))
	if out.ContentRange == nil {
		from, to = 0, aws.ToInt64(out.ContentLength)
	}
	return etag(aws.ToString(out.ETag)), aws.ToString(out.ContentEncoding), from, to
}

func (p *s3Provider) failure(err error) *remote.Failure {
	var answer *awshttp.ResponseError
	var api smithy.APIError
	errors.As(err, &api)
	code := ""
	if api != nil {
		code = api.ErrorCode()
	}
	if !errors.As(err, &answer) || answer.HTTPStatusCode() == 0 { // the connection failed
		return nil
	}
	what := fmt.Errorf("S3 status %d", answer.HTTPStatusCode())
	if code != "" && api.ErrorMessage() != "" {
		what = fmt.Errorf("%w, %s: %s", what, code, api.ErrorMessage())
	} else if code != "" {
		what = fmt.Errorf("%w, %s", what, code)
	}
	f := statusFailure(answer.HTTPStatusCode(), answer.Response.Header, what, p.hint())
	f.Err = briefError{what.Error(), err}
	switch code {
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired":
		if cache, ok := p.credentials.(*aws.CredentialsCache); ok {
			cache.Invalidate()
		}
		f.Kind, f.Hint = remote.Transient, "the credentials have expired: renew them"
	case "RequestTimeTooSkewed":
		f.Kind, f.Hint = remote.Transient, "the clock of this machine is wrong"
	case "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded":
		f.Kind = remote.Throttled
	case "NoSuchKey", "NoSuchBucket", "NotFound":
		f.Kind = remote.Missing
	case "PreconditionFailed":
		f.Kind = remote.Changed
	case "RequestTimeout", "InternalError":
		f.Kind = remote.Transient
	case "PermanentRedirect", "MovedPermanently", "AuthorizationHeaderMalformed":
		f.Hint = "name the region of the bucket with the option region"
	}
	return f
}

// regionOf returns the region that a store's answer names, or "".
func regionOf(err error) string {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}

// isBadRequest reports whether the store refused the form of a request: so it answers a signature
// for another region.
func isBadRequest(err error) bool {
	var answer *awshttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusBadRequest
}

func (p *s3Provider) unreadable(r rune) bool { return r < ' ' }
