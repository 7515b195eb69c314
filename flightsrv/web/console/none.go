//go:build noconsole

package console

import "net/http"

// Register adds nothing: this build has no console.
func Register(*http.ServeMux) {}
