package tokens

import (
	"strings"
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	token, digest := New()
	if len(token) != len(Prefix)+43 || strings.Contains(token, digest) {
		t.Error(token, digest)
	}
	if other, _ := New(); other == token {
		t.Error("two tokens are equal")
	}
	line := `{"sha256":"` + strings.ToUpper(digest) + `","user":"ci","groups":["a"],"scopes":["read"],"expires":"2027-01-02T03:04:05Z"}`
	tokens, err := Parse([]byte("# nightly\n\n" + line + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	found := tokens.Find(token)
	if found == nil || found.User != "ci" || tokens.ByID(found.ID()) != found || tokens.Find(token+"x") != nil {
		t.Errorf("%+v", found)
	}
	if found.Expired(found.Expires.Add(-time.Second)) || !found.Expired(found.Expires) {
		t.Error("expiry")
	}
	good := `"sha256":"` + digest + `","user":"ci"`
	for text, words := range map[string]string{
		"x":                               "line 1",
		"{}":                              "64 hexadecimal digits",
		`{"sha256":"00","user":"ci"}`:     "64 hexadecimal digits",
		`{"sha256":"` + digest + `"}`:     "the name is empty",
		"{" + good + `,"scope":["x"]}`:    "unknown field",
		"{" + good + `,"scopes":["all"]}`: "want some of describe",
		"{" + good + `,"groups":[""]}`:    "the name is empty",
		"{" + good + "} {}":               "want one JSON object",
		"{" + good + "}\n{" + good + "}":  "line 2: the token " + digest[:12] + " has a line already",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
