package api

import (
	"net/http"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// session is the answer of POST /v1/session.
type session struct {
	User string `json:"user"` // empty: the server has no login
}

// logIn checks the credential of a request and sets a cookie with a session token, for the console.
func (a *handlers) logIn(w http.ResponseWriter, r *http.Request) {
	user, token, err := a.Calls.Login(httpcall.Context(r))
	if err != nil {
		httpcall.WriteProblem(w, err)
		return
	}
	if a.Calls.HasLogin() {
		http.SetCookie(w, cookie(r, strings.TrimPrefix(token, "Bearer "), 0))
	}
	_ = writeJSON(w, session{user}) // the client may have left
}

// logOut removes the cookie.
func (a *handlers) logOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
}

// cookie returns the cookie of a session, which scripts can't read.
func cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: httpcall.SessionCookie, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
}
