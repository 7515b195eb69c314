package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Limits of a list of files of a web server.
const (
	maxIndexBytes   = 64 << 20 // of one page
	maxIndexFolders = 10_000
)

// List implements Store: a web server has no list, but most of them answer a folder with a page of
// links to its files. Each folder is one request. A page tells names only, so that objects have no
// size and no version: Stat finds them.
func (s *httpStore) List(ctx context.Context, prefix string, yield func(Object) error) error {
	if s.single != "" {
		return &Failure{Err: ErrNoList}
	}
	root := cloneURL(s.base)
	folders := []string{prefix[:strings.LastIndexByte(prefix, '/')+1]}
	seen := map[string]bool{folders[0]: true}
	for len(folders) > 0 {
		folder := folders[0]
		folders = folders[1:]
		names, err := s.index(ctx, root, folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			key := folder + name
			switch {
			case !strings.HasPrefix(key, prefix) && !strings.HasPrefix(prefix, key), seen[key]:
			case !strings.HasSuffix(name, "/"):
				seen[key] = true
				if err := yield(Object{Key: key, Size: -1}); err != nil {
					return err
				}
			case len(seen) > maxIndexFolders:
				return &Failure{Err: fmt.Errorf("more than %d folders", maxIndexFolders)}
			default:
				seen[key] = true
				folders = append(folders, key)
			}
		}
	}
	return nil
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
