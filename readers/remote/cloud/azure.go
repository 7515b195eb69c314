//go:build !nocloud

package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// OpenAzure opens az://container/prefix. Options of the URL: storage_account, domain, protocol, cdn,
// localemu as those of gocloud.dev/blob/azureblob, and anonymous. Credentials come from
// AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, else from Azure's
// default chain.
func OpenAzure(ctx context.Context, u *url.URL) (remote.Store, error) {
	p := &azureProvider{access{
		provider: "Azure", advice: "set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or run az login",
		public: "; for a public container, add ?anonymous=true to the URL",
	}}
	service := azureblob.NewDefaultServiceURLOptions()
	for key, values := range u.Query() {
		value := values[0]
		var err error
		switch key {
		case "storage_account":
			service.AccountName = value
		case "domain":
			service.StorageDomain = value
		case "protocol":
			service.Protocol = value
		case "cdn":
			service.IsCDN, err = boolOption(key, value)
		case "localemu":
			service.IsLocalEmulator, err = boolOption(key, value)
		case "anonymous":
			p.anonymous, err = boolOption(key, value)
		default:
			return nil, fmt.Errorf("unknown option %q", key)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.anonymous {
		service.SASToken = ""
	}
	address, err := azureblob.NewServiceURL(service)
	if err != nil {
		return nil, fmt.Errorf("%w; the account is the option storage_account, or AZURE_STORAGE_ACCOUNT", err)
	}
	transport := newTransport()
	client, err := p.client(ctx, service, string(address), u.Host, transport)
	if err != nil {
		return nil, err
	}
	opened, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return nil, err
	}
	return &bucket{provider: p, blob: opened, prefix: folderOf(u.Path), transport: transport}, nil
}

// client returns a client with the credentials that are there.
func (p *azureProvider) client(ctx context.Context, service *azureblob.ServiceURLOptions, address, name string,
	transport *http.Transport,
) (*container.Client, error) {
	at, err := url.JoinPath(address, name)
	if err != nil {
		return nil, err
	}
	if service.SASToken != "" { // after the name of the container
		base, token, _ := strings.Cut(address, "?")
		if at, err = url.JoinPath(base, name); err != nil {
			return nil, err
		}
		at += "?" + token
	}
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1}, // package remote repeats requests
		Transport: &http.Client{Transport: transport},
	}}
	key := os.Getenv("AZURE_STORAGE_KEY")
	connection := cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING"))
	switch {
	case p.anonymous || service.SASToken != "":
		return container.NewClientWithNoCredential(at, options)
	case key != "":
		shared, err := azblob.NewSharedKeyCredential(service.AccountName, key)
		if err != nil {
			return nil, fmt.Errorf("AZURE_STORAGE_KEY: %w", err)
		}
		return container.NewClientWithSharedKeyCredential(at, shared, options)
	case connection != "":
		return container.NewClientFromConnectionString(connection, name, options)
	}
	chain, err := azidentity.NewDefaultAzureCredential(nil)
	if err == nil {
		wait, cancel := context.WithTimeout(ctx, credentialsWait)
		defer cancel()
		_, err = chain.GetToken(wait, policy.TokenRequestOptions{Scopes: []string{azureScope}})
	}
	if err != nil {
		p.anonymous, p.without = true, true
		return container.NewClientWithNoCredential(at, options)
	}
	return container.NewClient(at, chain, options)
}

// azureScope is what tokens are for.
const azureScope = "https://storage.azure.com/.default"

// azureProvider implements provider.
type azureProvider struct{ access }

func (p *azureProvider) listed(o *blob.ListObject) source.ObjectVersion {
	var item container.BlobItem
	if o.As(&item) && item.Properties != nil && item.Properties.ETag != nil {
		return etag(string(*item.Properties.ETag))
	}
	return "date"
}

func (p *azureProvider) described(a *blob.Attributes) source.ObjectVersion { return etag(a.ETag) }

func (p *azureProvider) pin(as func(any) bool, version source.ObjectVersion) error {
	var in *azblob.DownloadStreamOptions
	if tag, ok := strings.CutPrefix(string(version), "etag:"); ok && as(&in) {
		match := azcore.ETag(tag)
		in.AccessConditions = &azblobblob.AccessConditions{
			ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfMatch: &match},
		}
	}
	return nil
}

func (p *azureProvider) answered(r *blob.Reader) (v source.ObjectVersion, encoding string, from, to int64) {
	var out azblobblob.DownloadStreamResponse
	if !r.As(&out) || out.ETag == nil {
		return "", "", 0, -1
	}
	if out.ContentEncoding != nil {
		encoding = *out.ContentEncoding
	}
	if out.ContentRange != nil {
		from, to = rangeOf(*out.ContentRange)
	} else if out.ContentLength != nil {
		to = *out.ContentLength
	}
	return etag(string(*out.ETag)), encoding, from, to
}

func (p *azureProvider) failure(err error) *remote.Failure {
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		return nil
	}
	code := cmp.Or(answer.ErrorCode, http.StatusText(answer.StatusCode))
	what := fmt.Errorf("status %d of Azure, %s", answer.StatusCode, code)
	header := http.Header{}
	if answer.RawResponse != nil {
		header = answer.RawResponse.Header
	}
	f := statusFailure(answer.StatusCode, header, what, p.hint())
	f.Err = briefError{what.Error(), err}
	if answer.ErrorCode == "BlobAlreadyExists" {
		f.Kind = remote.Exists
	}
	return f
}

// unreadable implements provider: package azureblob escapes these.
func (p *azureProvider) unreadable(r rune) bool { return r < ' ' || strings.ContainsRune("\"#%?\\", r) }
