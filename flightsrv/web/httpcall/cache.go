package httpcall

import (
	"net/http"
	"strings"
)

// IsKnown reports whether the client has the answer with an entity tag already (RFC 9110 section
// 13.1.2).
func IsKnown(r *http.Request, etag string) bool {
	for _, line := range r.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}

// SetCacheControl lets caches keep an answer, if they ask for each use whether it is the present one.
// Shared caches keep none that only some callers get.
func SetCacheControl(w http.ResponseWriter, s Server) {
	value := "no-cache"
	if s.HasLogin() {
		value = "private, no-cache"
	}
	w.Header().Set("Cache-Control", value)
}
