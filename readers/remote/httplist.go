package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Limits of a list of files of a web server.
const (
	maxIndexBytes   = 64 << 20 // of one page
	maxIndexFolders = 10_000
)

// folderQueue is the Place of a page in the list of a web server.
type folderQueue struct {
	folders []string        // to read
	found   int             // folders, with those that were read
	seen    map[string]bool // keys of the former pages
}

// List implements Store: a web server has no list, but most of them answer a folder with a page of
// links to its files. Each folder is one request. A page tells names only, so that objects have no
// size and no version: Stat finds them.
func (s *httpStore) List(ctx context.Context, prefix string, at Place) ([]Object, Place, error) {
	if s.single != "" {
		return nil, nil, &Failure{Err: ErrNoList}
	}
	queue, ok := at.(*folderQueue)
	if !ok {
		first := prefix[:strings.LastIndexByte(prefix, '/')+1]
		queue = &folderQueue{[]string{first}, 1, map[string]bool{first: true}}
	}
	found := queue.found
	folder, folders := queue.folders[0], slices.Clone(queue.folders[1:])
	names, err := s.index(ctx, cloneURL(s.base), folder)
	if err != nil {
		return nil, nil, err
	}
	var page []Object
	for _, name := range names {
		key := folder + name
		switch {
		case !strings.HasPrefix(key, prefix) && !strings.HasPrefix(prefix, key), queue.seen[key]:
			continue
		case !strings.HasSuffix(name, "/"):
			page = append(page, Object{Key: key, Size: -1})
		case found >= maxIndexFolders:
			return nil, nil, &Failure{Err: fmt.Errorf("more than %d folders", maxIndexFolders)}
		default:
			folders, found = append(folders, key), found+1
		}
		queue.seen[key] = true
	}
	if len(folders) == 0 {
		return page, nil, nil
	}
	return page, &folderQueue{folders, found, queue.seen}, nil
}

// index returns the names of the files in a folder and of its folders, which end with '/'.
func (s *httpStore) index(ctx context.Context, root *url.URL, folder string) ([]string, error) {
	at := cloneURL(root)
	at.Path, at.RawPath = root.Path+folder, ""
	answer, err := s.do(ctx, http.MethodGet, at.String(), http.Header{"Accept": {"text/html"}})
	if err != nil {
		return nil, err
	}
	defer discard(answer.Body)
	if answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusNotFound ||
		answer.StatusCode == http.StatusOK && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		return nil, &Failure{
			Err: fmt.Errorf("%w (HTTP status %s)", ErrNoList, answer.Status), Hint: "give the URL of each file",
		}
	}
	if answer.StatusCode != http.StatusOK {
		return nil, statusError(answer)
	}
	// After a redirect, links are relative to where it led.
	return links(io.LimitReader(answer.Body, maxIndexBytes), answer.Request.URL)
}

// links returns what the links of a page name in its own folder.
func links(page io.Reader, at *url.URL) ([]string, error) {
	folder := at.Path[:strings.LastIndexByte(at.Path, '/')+1]
	var names []string
	for z := html.NewTokenizer(page); ; {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, &Failure{Kind: Transient, Err: err}
			}
			return names, nil
		case html.StartTagToken:
			tag, more := z.TagName()
			if string(tag) != "a" {
				continue
			}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if string(key) != "href" {
					continue
				}
				link, err := at.Parse(string(value))
				if err != nil || link.Host != at.Host || link.RawQuery != "" {
					continue // ?C=M;O=A sorts the same page
				}
				name, ok := strings.CutPrefix(link.Path, folder)
				rest := strings.TrimSuffix(name, "/")
				if ok && rest != "" && !strings.Contains(rest, "/") && rest[0] != '.' {
					names = append(names, name)
				}
			}
		}
	}
}
