package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

const (
	azuriteVersion = "3.37.0"

	// The account of the emulator, which its documentation publishes.
	azureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// startAzure runs azurite with node, and uploads the files of the root folder.
func startAzure(ctx context.Context, o options) (*store, error) {
	script := filepath.Join(o.azurite, "node_modules", "azurite", "dist", "src", "blob", "main.js")
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, installError{"azurite needs node, which is not installed"}
	}
	if _, err := os.Stat(script); err != nil {
		return nil, installError{"azurite is not installed in " + o.azurite + ": make stores"}
	}
	child := &child{dir: o.scratch}
	endpoint, ended, err := listen(0, func(address string) (<-chan error, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return child.start(node, script, "--silent", "--disableTelemetry", "--skipApiVersionCheck",
			"--inMemoryPersistence", "--blobHost", host, "--blobPort", port)
	})
	if err != nil {
		child.stop()
		return nil, err
	}
	if err := uploadAzure(ctx, o, endpoint); err != nil {
		child.stop()
		return nil, err
	}
	domain := endpoint[len("http://"):]
	return &store{
		Announcement: Announcement{
			URL: fmt.Sprintf("azblob://%s?storage_account=%s&protocol=http&domain=%s&localemu=true",
				o.bucket, azureAccount, domain),
			Endpoint:  endpoint + "/" + azureAccount,
			Bucket:    o.bucket,
			AccessKey: azureAccount,
			SecretKey: azureKey,
			Env: map[string]string{
				"AZURE_STORAGE_ACCOUNT":           azureAccount,
				"AZURE_STORAGE_KEY":               azureKey,
				"AZURE_STORAGE_PROTOCOL":          "http",
				"AZURE_STORAGE_DOMAIN":            domain,
				"AZURE_STORAGE_IS_LOCAL_EMULATOR": "true",
			},
		},
		failed: ended,
		stop:   child.stop,
	}, nil
}

func uploadAzure(ctx context.Context, o options, endpoint string) error {
	credential, err := azblob.NewSharedKeyCredential(azureAccount, azureKey)
	if err != nil {
		return err
	}
	client, err := azblob.NewClientWithSharedKeyCredential(endpoint+"/"+azureAccount, credential, nil)
	if err != nil {
		return err
	}
	var create azblob.CreateContainerOptions
	if o.public {
		access := container.PublicAccessTypeContainer
		create.Access = &access
	}
	if _, err := client.CreateContainer(ctx, o.bucket, &create); err != nil {
		return fmt.Errorf("create container: %w", err)
	}
	return eachFile(o.root, func(name string, f *os.File) error {
		_, err := client.UploadFile(ctx, o.bucket, name, f, nil)
		return err
	})
}
