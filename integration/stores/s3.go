package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/gofiber/fiber/v3"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
	"github.com/versity/versitygw/s3err"
)

const (
	accessKey = "test"
	secretKey = "test-secret"
)

// startS3 runs versitygw. The bucket is a link to the root folder.
func startS3(ctx context.Context, o options) (*store, error) {
	gateway, err := newGateway(o)
	if err != nil {
		return nil, err
	}
	log := func(fiber.Ctx) {}
	if o.log != "" {
		requests, err := openRequestLog(o.log)
		if err != nil {
			return nil, err
		}
		log = requests.add
	}
	cfg := embedgw.Config{
		RootUserAccess:    accessKey,
		RootUserSecret:    secretKey,
		Region:            o.region,
		MaxConnections:    4096,
		MaxRequests:       4096,
		MultipartMaxParts: 10_000,
		KeepAlive:         true,
		Quiet:             true,
		S3Options: []s3api.Option{s3api.WithMiddleware("/", func(c fiber.Ctx) error {
			time.Sleep(o.latency)
			err := c.Next()
			log(c)
			return err
		})},
	}

	ctx, cancel := context.WithCancel(ctx)
	endpoint, ended, err := listen(o.port, func(address string) (<-chan error, error) {
		cfg := cfg
		cfg.Ports = []string{address}
		ended := make(chan error, 1)
		go func() { ended <- embedgw.RunVersityGW(ctx, gateway, &cfg) }()
		return ended, nil
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return &store{
		Announcement: s3Announcement(endpoint, o.bucket, o.region),
		failed:       ended,
		stop:         cancel,
	}, nil
}

func s3Announcement(endpoint, bucket, region string) Announcement {
	return Announcement{
		URL:       fmt.Sprintf("s3://%s?region=%s&endpoint=%s&use_path_style=true", bucket, region, endpoint),
		Endpoint:  endpoint,
		Bucket:    bucket,
		Region:    region,
		AccessKey: accessKey,
		SecretKey: secretKey,
		Env: map[string]string{
			"AWS_ACCESS_KEY_ID":         accessKey,
			"AWS_SECRET_ACCESS_KEY":     secretKey,
			"AWS_REGION":                region,
			"AWS_ENDPOINT_URL_S3":       endpoint,
			"AWS_EC2_METADATA_DISABLED": "true",
		},
	}
}

func newGateway(o options) (backend.Backend, error) {
	if o.backend == "memory" {
		return &generatedBucket{bucket: o.bucket, keys: o.keys, public: o.public}, nil
	}
	root := filepath.Join(o.scratch, "buckets")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	if err := os.Symlink(o.root, filepath.Join(root, o.bucket)); err != nil {
		return nil, err
	}
	metadata, err := newMetadata(o)
	if err != nil {
		return nil, err
	}
	settings := posix.PosixOpts{BucketLinks: true}
	if o.versioning {
		settings.VersioningDir = filepath.Join(o.scratch, "versions")
		if err := os.Mkdir(settings.VersioningDir, 0o755); err != nil {
			return nil, err
		}
	}
	files, err := posix.New(root, metadata, settings)
	if err != nil {
		return nil, err
	}
	if o.versioning {
		if err := files.PutBucketVersioning(context.Background(), o.bucket,
			types.BucketVersioningStatusEnabled); err != nil {
			return nil, fmt.Errorf("enable versioning: %w", err)
		}
	}
	return &folderGateway{Posix: files, metadata: metadata, public: o.public}, nil
}

// folderGateway is versitygw's backend over a folder, with two changes for tests.
//
// GetObject of versitygw reads the ETag by name, and then opens the file by name. An object that is
// replaced in between would come with the ETag of the earlier one, and pass If-Match. GetObject here
// asks for the ETag again after the file is open.
type folderGateway struct {
	*posix.Posix
	metadata *metadata
	public   bool
}

func (g *folderGateway) GetObject(ctx context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	for {
		out, err := g.Posix.GetObject(ctx, in)
		if err != nil || out.ETag == nil || (in.VersionId != nil && *in.VersionId != "") {
			return out, err
		}
		now, err := g.metadata.RetrieveAttribute(nil, *in.Bucket, *in.Key, etagAttribute)
		if err == nil && string(now) == *out.ETag {
			return out, nil
		}
		if out.Body != nil {
			_ = out.Body.Close()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// GetBucketPolicy lets everybody read a public bucket.
func (g *folderGateway) GetBucketPolicy(ctx context.Context, bucket string) ([]byte, error) {
	if g.public {
		return publicPolicy(bucket), nil
	}
	return g.Posix.GetBucketPolicy(ctx, bucket)
}

func publicPolicy(bucket string) []byte {
	return fmt.Appendf(nil, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",
		"Action":["s3:GetObject","s3:GetObjectVersion","s3:ListBucket"],
		"Resource":["arn:aws:s3:::%[1]s","arn:aws:s3:::%[1]s/*"]}]}`, bucket)
}

func noPolicy(bucket string) error {
	return s3err.GetBucketErr(s3err.ErrNoSuchBucketPolicy, bucket)
}

// listen starts a server that takes an address and gives no listener, on a port that was free a moment ago.
// It returns the server's URL when it answers HTTP.
func listen(port int, start func(address string) (<-chan error, error)) (string, <-chan error, error) {
	var last error
	for range 5 {
		address, err := freeAddress(port)
		if err != nil {
			return "", nil, err
		}
		ended, err := start(address)
		if err != nil {
			return "", nil, err
		}
		if last = waitFor("http://"+address, ended); last == nil {
			return "http://" + address, ended, nil
		}
	}
	return "", nil, last
}

// freeAddress returns the address of a port on loopback that is free, for port 0 of any.
func freeAddress(port int) (string, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// waitFor returns when url gives any HTTP answer.
func waitFor(url string, ended <-chan error) error {
	deadline := time.After(60 * time.Second)
	for {
		res, err := http.Get(url)
		if err == nil {
			_ = res.Body.Close()
			return nil
		}
		select {
		case err := <-ended:
			if err == nil {
				err = errors.New("it ended")
			}
			return fmt.Errorf("start of the server at %s: %w", url, err)
		case <-deadline:
			return fmt.Errorf("no answer from %s within a minute", url)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
