package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
)

const (
	etagAttribute     = "etag"
	identityAttribute = "vibeflight-identity"
)

// metadata keeps versitygw's attributes of objects, and gives every file an ETag.
//
// A file that came by other means than S3 has no stored ETag, and one that was written in place has
// an outdated one. For both the ETag is a digest of inode, size and time. Attributes of buckets stay
// in memory, so that the root folder has none when the server has ended.
type metadata struct {
	objects meta.MetadataStorer

	mu      sync.Mutex
	buckets map[[2]string][]byte // by bucket and attribute
}

func newMetadata(o options) (*metadata, error) {
	m := &metadata{objects: meta.XattrMeta{}, buckets: map[[2]string][]byte{}}
	if (meta.XattrMeta{}).Test(o.root) == nil {
		return m, nil
	}
	folder := filepath.Join(o.scratch, "attributes")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	var err error
	m.objects, err = meta.NewSideCar(folder)
	return m, err
}

func (m *metadata) RetrieveAttribute(f *os.File, bucket, object, attribute string) ([]byte, error) {
	if object == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		if value, ok := m.buckets[[2]string{bucket, attribute}]; ok {
			return value, nil
		}
		return nil, meta.ErrNoSuchKey
	}
	value, err := m.objects.RetrieveAttribute(f, bucket, object, attribute)
	if attribute != etagAttribute {
		return value, err
	}
	info, statErr := stat(f, bucket, object)
	if statErr != nil || info.IsDir() {
		return value, err
	}
	identity := identityOf(info)
	if err == nil {
		stored, err := m.objects.RetrieveAttribute(f, bucket, object, identityAttribute)
		if err == nil && string(stored) == identity {
			return value, nil
		}
	}
	sum := md5.Sum([]byte(identity))
	return []byte(`"` + hex.EncodeToString(sum[:]) + `"`), nil
}

func (m *metadata) StoreAttribute(f *os.File, bucket, object, attribute string, value []byte) error {
	if object == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.buckets[[2]string{bucket, attribute}] = value
		return nil
	}
	if err := m.objects.StoreAttribute(f, bucket, object, attribute, value); err != nil || attribute != etagAttribute {
		return err
	}
	info, err := stat(f, bucket, object)
	if err != nil {
		return err
	}
	return m.objects.StoreAttribute(f, bucket, object, identityAttribute, []byte(identityOf(info)))
}

func (m *metadata) DeleteAttribute(bucket, object, attribute string) error {
	if object == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.buckets, [2]string{bucket, attribute})
		return nil
	}
	return m.objects.DeleteAttribute(bucket, object, attribute)
}

func (m *metadata) ListAttributes(bucket, object string) ([]string, error) {
	if object == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		var names []string
		for key := range m.buckets {
			if key[0] == bucket {
				names = append(names, key[1])
			}
		}
		return names, nil
	}
	return m.objects.ListAttributes(bucket, object)
}

func (m *metadata) DeleteAttributes(bucket, object string) error {
	if object == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		for key := range m.buckets {
			if key[0] == bucket {
				delete(m.buckets, key)
			}
		}
		return nil
	}
	return m.objects.DeleteAttributes(bucket, object)
}

func (m *metadata) RenameObject(bucket, oldObject, newObject string) error {
	return m.objects.RenameObject(bucket, oldObject, newObject)
}

func stat(f *os.File, bucket, object string) (os.FileInfo, error) {
	if f != nil {
		return f.Stat()
	}
	return os.Stat(filepath.Join(bucket, object))
}

// identityOf names the content of a file, as long as nobody turns back its time.
func identityOf(info os.FileInfo) string {
	var inode uint64
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf("%d-%d-%d", inode, info.Size(), info.ModTime().UnixNano())
}
