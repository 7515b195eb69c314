//go:build !nocloud

package stores

import "github.com/vibeflight/vibeflight/readers/remote/cloud"

func init() {
	openers["s3"] = cloud.OpenS3
	openers["gs"] = cloud.OpenGCS
	openers["az"] = cloud.OpenAzure
}
