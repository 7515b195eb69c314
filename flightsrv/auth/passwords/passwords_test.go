package passwords

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func TestHash(t *testing.T) {
	text, err := NewHash("pässword")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(text, ":") {
		t.Error(text)
	}
	h, err := parseHash(text)
	if err != nil || !h.matches("pässword") || h.matches("password") || h.matches("") {
		t.Error(err)
	}
	for _, bad := range []string{"", strings.Repeat("x", MaxBytes+1)} {
		if _, err := NewHash(bad); err == nil {
			t.Errorf("a password of %d bytes is accepted", len(bad))
		}
	}
	// Hash of another implementation: argon2 of PHC, "password" with the salt "somesalt".
	other := "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if h, err := parseHash(other); err != nil || !h.matches("password") {
		t.Error("a hash of the reference implementation does not match", err)
	}
}

func TestBadHashes(t *testing.T) {
	for _, text := range []string{
		"", "secret", "{SHA}x", "$apr1$x$y", "$argon2id$", "$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=16$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=99999999,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=8,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=8,t=1,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=8,t=1,p=1,x=2$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=8,t=1,p=1$!$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AA",
		"$2y$", "$2y$31$" + strings.Repeat("a", 53),
	} {
		if _, err := parseHash(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestParse(t *testing.T) {
	b, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users, err := Parse([]byte("# staff\n\nalice:" + string(b) + ":b, a,b\r\nbob:*\n"))
	if err != nil {
		t.Fatal(err)
	}
	if u := users.Find("alice"); u == nil || strings.Join(u.Groups, " ") != "a b" || u.Method != "bcrypt" {
		t.Errorf("%+v", u)
	}
	if users.Verify("alice", "secret") == nil || users.Verify("alice", "x") != nil || users.Verify("bob", "*") != nil ||
		users.Verify("eve", "secret") != nil {
		t.Error("Verify")
	}
	for text, words := range map[string]string{
		"alice":                         "line 1: want NAME:HASH",
		"#\na:*\na:*":                   `line 3: the user "a" has a line already`,
		":*":                            "the name is empty",
		"a b:*":                         "a name has no spaces",
		"a:*:g:h":                       "got 4 fields",
		"a:*:g,":                        "the name is empty",
		"a:hunter2":                     "want a hash of argon2id",
		strings.Repeat("x", 300) + ":*": "at most 256",
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestUnknownUsersCostTheSame compares the time of a wrong password with that of a name without a
// user, and of a user without a password.
func TestUnknownUsersCostTheSame(t *testing.T) {
	hash, err := NewHash("secret")
	if err != nil {
		t.Fatal(err)
	}
	users, err := Parse([]byte("alice:" + hash + "\nci:*\n"))
	if err != nil {
		t.Fatal(err)
	}
	fastest := map[string]time.Duration{}
	names := []string{"alice", "eve", "ci"}
	similar := func() bool {
		for _, name := range names {
			if d, alice := fastest[name], fastest["alice"]; d < alice/2 || d > 2*alice {
				return false
			}
		}
		return true
	}
	for round := 0; round < 3 || !similar(); round++ { // others use the processors too
		if round == 50 {
			t.Fatalf("the times differ: %v", fastest)
		}
		for _, name := range names {
			began := time.Now()
			users.Verify(name, "guess")
			if d := time.Since(began); fastest[name] == 0 || d < fastest[name] {
				fastest[name] = d
			}
		}
	}
}

func TestReplace(t *testing.T) {
	text := []byte("# staff\nal:x:g\nalice:y:h\n")
	remove := func(string) (string, bool) { return "", false }
	if got, found := Replace(text, "al", remove); !found || string(got) != "# staff\nalice:y:h\n" {
		t.Errorf("%q", got)
	}
	if got, found := Replace(text, "bob", remove); found || string(got) != string(text) {
		t.Errorf("%q", got)
	}
	if got := Append([]byte("a:*"), Line("b", "*", []string{"g", "h"})); string(got) != "a:*\nb:*:g,h\n" {
		t.Errorf("%q", got)
	}
	if HashOf("a:h:g") != "h" || HashOf("a") != "" {
		t.Error("HashOf")
	}
}
