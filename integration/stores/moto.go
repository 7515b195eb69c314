package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const motoVersion = "5.2.5"

// startMoto runs Python's moto, a second S3 with STS, and uploads the files of the root folder.
func startMoto(ctx context.Context, o options) (*store, error) {
	python := filepath.Join(o.moto, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return nil, installError{"moto is not installed in " + o.moto + ": make stores"}
	}
	child := &child{dir: o.scratch}
	endpoint, ended, err := listen(0, func(address string) (<-chan error, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return child.start(python, "-m", "moto.server", "-H", host, "-p", port)
	})
	if err != nil {
		child.stop()
		return nil, err
	}
	if err := uploadS3(ctx, o, endpoint); err != nil {
		child.stop()
		return nil, err
	}
	return &store{
		Announcement: s3Announcement(endpoint, o.bucket, "us-east-1"),
		failed:       ended,
		stop:         child.stop,
	}, nil
}

func s3Client(endpoint, region string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &endpoint,
		Region:       region,
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	})
}

func uploadS3(ctx context.Context, o options, endpoint string) error {
	client := s3Client(endpoint, "us-east-1")
	if _, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(o.bucket)}); err != nil {
		return fmt.Errorf("create bucket: %w", err)
	}
	return eachFile(o.root, func(name string, f *os.File) error {
		_, err := client.PutObject(ctx,
			&s3.PutObjectInput{Bucket: aws.String(o.bucket), Key: aws.String(name), Body: f})
		return err
	})
}
