package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// generatedBucket is a bucket of GeoJSON objects that exist only as their number: a million of them need no memory.
//
// Object i has the key part=0000/0000000.geojson, with 1,000 objects in each folder, and one point.
type generatedBucket struct {
	backend.BackendUnsupported
	bucket string
	keys   int
	public bool
}

const keysPerFolder = 1000

func generatedKey(i int) string {
	return fmt.Sprintf("part=%04d/%07d.geojson", i/keysPerFolder, i)
}

func generatedObject(i int) []byte {
	return fmt.Appendf(nil, `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":%d},`+
		`"geometry":{"type":"Point","coordinates":[%d.5,%d.5]}}]}`+"\n", i, i%360-180, i%180-90)
}

func etagOf(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

var generatedTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// indexOf returns the number of the object with this key.
func (g *generatedBucket) indexOf(key string) (int, error) {
	name, ok := strings.CutSuffix(key[strings.LastIndexByte(key, '/')+1:], ".geojson")
	i, err := strconv.Atoi(name)
	if !ok || err != nil || i < 0 || i >= g.keys || generatedKey(i) != key {
		return 0, s3err.GetAPIError(s3err.ErrNoSuchKey)
	}
	return i, nil
}

func (g *generatedBucket) checkBucket(bucket *string) error {
	if *bucket != g.bucket {
		return s3err.GetBucketErr(s3err.ErrNoSuchBucket, *bucket)
	}
	return nil
}

func (g *generatedBucket) String() string { return "generated objects" }

func (g *generatedBucket) NormalizeObjectKey(_, object string) string { return object }

func (g *generatedBucket) HeadBucket(_ context.Context, in *s3.HeadBucketInput) (*s3.HeadBucketOutput, error) {
	return &s3.HeadBucketOutput{}, g.checkBucket(in.Bucket)
}

//nolint:revive,staticcheck // versitygw's interface has this name
func (g *generatedBucket) GetBucketAcl(_ context.Context, in *s3.GetBucketAclInput) ([]byte, error) {
	return []byte{}, g.checkBucket(in.Bucket)
}

func (g *generatedBucket) GetBucketPolicy(_ context.Context, bucket string) ([]byte, error) {
	if !g.public {
		return nil, noPolicy(bucket)
	}
	return publicPolicy(bucket), nil
}

func (g *generatedBucket) HeadObject(ctx context.Context, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	out, err := g.GetObject(ctx, &s3.GetObjectInput{
		Bucket: in.Bucket, Key: in.Key, IfMatch: in.IfMatch, IfNoneMatch: in.IfNoneMatch, Range: in.Range,
	})
	if err != nil {
		return nil, err
	}
	return &s3.HeadObjectOutput{
		AcceptRanges: out.AcceptRanges, ContentLength: out.ContentLength, ContentRange: out.ContentRange,
		ETag: out.ETag, LastModified: out.LastModified,
	}, nil
}

func (g *generatedBucket) GetObject(_ context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	if err := g.checkBucket(in.Bucket); err != nil {
		return nil, err
	}
	i, err := g.indexOf(*in.Key)
	if err != nil {
		return nil, err
	}
	content := generatedObject(i)
	etag := etagOf(content)
	if err := backend.EvaluatePreconditions(etag, generatedTime, backend.PreConditions{
		IfMatch: in.IfMatch, IfNoneMatch: in.IfNoneMatch,
	}); err != nil {
		return nil, err
	}
	out := &s3.GetObjectOutput{
		AcceptRanges: backend.GetPtrFromString("bytes"), ETag: &etag, LastModified: &generatedTime,
	}
	requested := ""
	if in.Range != nil {
		requested = *in.Range
	}
	size := int64(len(content))
	start, length, ranged, err := backend.ParseObjectRange(size, requested)
	if err != nil {
		return nil, err
	}
	if ranged {
		out.ContentRange = backend.GetPtrFromString(fmt.Sprintf("bytes %d-%d/%d", start, start+length-1, size))
	}
	out.ContentLength = &length
	out.Body = io.NopCloser(bytes.NewReader(content[start : start+length]))
	return out, nil
}

// ListObjectsV2 lists in the order of the keys, which is that of the numbers.
func (g *generatedBucket) ListObjectsV2(_ context.Context,
	in *s3.ListObjectsV2Input,
) (s3response.ListObjectsV2Result, error) {
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	if err := g.checkBucket(in.Bucket); err != nil {
		return s3response.ListObjectsV2Result{}, err
	}
	prefix, delimiter, after := value(in.Prefix), value(in.Delimiter),
		max(value(in.ContinuationToken), value(in.StartAfter))
	limit := int32(1000)
	if in.MaxKeys != nil {
		limit = min(limit, *in.MaxKeys)
	}

	var count int32
	var truncated bool
	var last string
	out := s3response.ListObjectsV2Result{
		Name: in.Bucket, Prefix: in.Prefix, Delimiter: in.Delimiter, StartAfter: in.StartAfter,
		ContinuationToken: in.ContinuationToken, MaxKeys: &limit, KeyCount: &count, IsTruncated: &truncated,
	}
	i := g.first(max(prefix, after))
	if i < g.keys && generatedKey(i) == after {
		i++
	}
	for ; i < g.keys; i++ {
		key := generatedKey(i)
		if !strings.HasPrefix(key, prefix) {
			break
		}
		common := ""
		if delimiter != "" {
			if rest, _, found := strings.Cut(key[len(prefix):], delimiter); found {
				common = prefix + rest + delimiter
			}
		}
		if common != "" && common <= after {
			i = g.first(common+"\xff") - 1 // an earlier page had it
			continue
		}
		if count == limit {
			truncated = true
			out.NextContinuationToken = &last
			break
		}
		count++
		if common != "" {
			out.CommonPrefixes = append(out.CommonPrefixes, types.CommonPrefix{Prefix: &common})
			last = common
			i = g.first(common+"\xff") - 1
			continue
		}
		content := generatedObject(i)
		etag, size := etagOf(content), int64(len(content))
		out.Contents = append(out.Contents, s3response.Object{
			Key: &key, ETag: &etag, Size: &size, LastModified: &generatedTime,
			StorageClass: types.ObjectStorageClassStandard,
		})
		last = key
	}
	return out, nil
}

// first returns the number of the first object whose key is not less than key.
func (g *generatedBucket) first(key string) int {
	return sort.Search(g.keys, func(i int) bool { return generatedKey(i) >= key })
}
