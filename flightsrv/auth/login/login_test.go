package login

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
	"github.com/vibeflight/vibeflight/flightsrv/auth/tokens"
)

// weakHash returns a hash that takes a millisecond, as htpasswd -B writes it.
func weakHash(t testing.TB, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(h), "$2a$", "$2y$", 1)
}

// folder has the files of a login.
type folder struct {
	t   testing.TB
	dir string
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) write(name string, lines ...string) string {
	f.t.Helper()
	path := f.path(name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func open1(t testing.TB, cfg Config) *Login {
	t.Helper()
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// from is the context of a call of an address with values of the header authorization.
func from(address string, values ...string) context.Context {
	ctx := peer.NewContext(context.Background(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
	md := metadata.MD{}
	for _, v := range values {
		md.Append(header, v)
	}
	return metadata.NewIncomingContext(ctx, md)
}

func call(values ...string) context.Context { return from("192.0.2.1", values...) }

func TestAuthenticate(t *testing.T) {
	f := folder{t, t.TempDir()}
	token, digest := tokens.New()
	old, oldDigest := tokens.New()
	foreign, foreignDigest := tokens.New()
	argon, err := passwords.NewHash("pass word")
	if err != nil {
		t.Fatal(err)
	}
	l := open1(t, Config{
		Users: f.write("users", "alice:"+weakHash(t, "secret")+":gis,admins", "bob:*", "colon:"+weakHash(t, "a:b"),
			"argon:"+argon),
		Tokens: f.write("tokens", `{"sha256":"`+digest+`","user":"bob","scopes":["read"]}`,
			`{"sha256":"`+oldDigest+`","user":"bob","expires":"2020-01-01T00:00:00Z"}`,
			`{"sha256":"`+foreignDigest+`","user":"mallory"}`),
	})
	basic := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	p, session, err := l.Handshake(call("Basic " + basic("alice:secret")))
	if err != nil || p.Name != "alice" {
		t.Fatal(p, err)
	}
	for _, test := range []struct {
		name   string
		values []string
		user   string // empty: an error
		text   string // of the method and groups, or of the error
	}{
		{"password", []string{"Basic " + basic("alice:secret")}, "alice", "password [admins gis]"},
		{"argon2id", []string{"Basic " + basic("argon:pass word")}, "argon", "password"},
		{"no padding", []string{"Basic " + strings.TrimRight(basic("alice:secret"), "=")}, "alice", "password"},
		{"scheme in capitals", []string{"BASIC " + basic("alice:secret")}, "alice", "password"},
		{"spaces", []string{"  basic   " + basic("alice:secret") + " "}, "alice", "password"},
		{"password with a colon", []string{"Basic " + basic("colon:a:b")}, "colon", "password"},
		{"twice", []string{"Basic " + basic("alice:secret"), "Basic " + basic("alice:secret")}, "alice", "password"},
		{"session", []string{session}, "alice", "session [admins gis]"},
		{"session, lower case", []string{"bearer " + strings.TrimPrefix(session, "Bearer ")}, "alice", "session"},
		{"token", []string{"Bearer " + token}, "bob", "token"},
		{"token as password", []string{"Basic " + basic(":"+token)}, "bob", "token"},
		{"token of user token", []string{"Basic " + basic("token:"+token)}, "bob", "token"},

		{"nothing", nil, "", "no credential: this server accepts a user and a password, or an API token"},
		{"other values", []string{session, "Bearer " + token}, "", "several headers"},
		{"empty", []string{""}, "", "want Basic or Bearer"},
		{"empty token", []string{"Bearer "}, "", "the bearer token is empty"},
		{"other scheme", []string{"Negotiate abc"}, "", "want Basic or Bearer"},
		{"no base64", []string{"Basic ???"}, "", "not followed by base64"},
		{"no colon", []string{"Basic " + basic("alice")}, "", "not followed by user:password"},
		{"wrong password", []string{"Basic " + basic("alice:Secret")}, "", "wrong user or password"},
		{"no user", []string{"Basic " + basic("eve:secret")}, "", "wrong user or password"},
		{"no password", []string{"Basic " + basic("bob:*")}, "", "wrong user or password"},
		{"empty password", []string{"Basic " + basic("bob:")}, "", "wrong user or password"},
		{"zero byte", []string{"Basic " + basic("alice\x00:secret")}, "", "wrong user or password"},
		{"wrong token", []string{"Bearer vf_x"}, "", "invalid or was revoked"},
		{"wrong token as password", []string{"Basic " + basic(":vf_x")}, "", "invalid or was revoked"},
		{"old token", []string{"Bearer " + old}, "", "has expired"},
		{"token of another user", []string{"Bearer " + foreign}, "", "may not log in"},
		{"wrong session", []string{session + "x"}, "", "session token is invalid"},
		{"half a session", []string{session[:len(session)/2]}, "", "session token is invalid"},
		{"long", []string{"Bearer " + strings.Repeat("x", 20<<10)}, "", "more than 16384 bytes"},
		{"long password", []string{"Basic " + basic("alice:"+strings.Repeat("x", 4<<10))}, "", "more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := l.Authenticate(call(test.values...))
			if test.user == "" {
				if err == nil || !errors.Is(err, auth.ErrUnauthenticated) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("%v is not Unauthenticated with %q", err, test.text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(p.Method, " ", p.Groups); p.Name != test.user || !strings.HasPrefix(got, test.text) {
				t.Errorf("%s, %s", p.Name, got)
			}
		})
	}
	if p, err := l.Authenticate(call("Bearer " + token)); err != nil || fmt.Sprint(p.Scopes) != "[read]" {
		t.Errorf("scopes of a token: %v, %v", p, err)
	}
}

func TestSessionsExpire(t *testing.T) {
	f := folder{t, t.TempDir()}
	now := time.Now()
	l := open1(t, Config{
		Users: f.write("users", "alice:"+weakHash(t, "secret")), SessionLifetime: time.Minute,
		now: func() time.Time { return now },
	})
	_, session, err := l.Handshake(call(auth.Basic("alice", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(58 * time.Second)
	if _, err := l.Authenticate(call(session)); err != nil {
		t.Error(err)
	}
	now = now.Add(2 * time.Second)
	if _, err := l.Authenticate(call(session)); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Error(err)
	}
}

func TestKeysAreShared(t *testing.T) {
	f := folder{t, t.TempDir()}
	users := f.write("users", "alice:"+weakHash(t, "secret"))
	first, second := strings.Repeat("a", 32), strings.Repeat("b", 32)
	of := func(name string, keys ...string) *Login {
		return open1(t, Config{Users: users, SessionKeys: f.write(name, keys...)})
	}
	_, session, err := of("k1", first).Handshake(call(auth.Basic("alice", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]string{"same": {first}, "rotated": {second, first}} {
		if _, err := of(name, keys...).Authenticate(call(session)); err != nil {
			t.Error(name, err)
		}
	}
	if _, err := of("other", second).Authenticate(call(session)); err == nil {
		t.Error("a session of other keys is accepted")
	}
	for name, cfg := range map[string]Config{
		"short key": {Users: users, SessionKeys: f.write("short", "x")},
		"3 keys":    {Users: users, SessionKeys: f.write("three", first, first, first)},
		"no file":   {Users: f.path("none")},
		"bad line":  {Users: f.write("bad", "alice")},
		"bad hash":  {Users: f.write("plain", "alice:secret")},
	} {
		l, err := Open(cfg)
		if err == nil {
			l.Close()
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has a secret: %v", name, err)
		}
	}
}

// TestChangesTakeEffect changes the files while calls are in progress.
func TestChangesTakeEffect(t *testing.T) {
	f := folder{t, t.TempDir()}
	token, digest := tokens.New()
	line := `{"sha256":"` + digest + `","user":"bob"}`
	alice := "alice:" + weakHash(t, "secret")
	users := f.write("users", alice, "bob:*")
	f.write("tokens", line)
	l := open1(t, Config{Users: users, Tokens: f.path("tokens")})
	_, session, err := l.Handshake(call(auth.Basic("alice", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	watch := func(authorization string) context.Context {
		p, err := l.Authenticate(call(authorization))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := l.Watch(t.Context(), p)
		t.Cleanup(stop)
		return ctx
	}
	ofPassword, ofSession, ofToken := watch(auth.Basic("alice", "secret")), watch(session), watch("Bearer "+token)
	ended := func(what string, ctx context.Context, began time.Time) {
		t.Helper()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the call does not end", what)
		}
		if err := context.Cause(ctx); !errors.Is(err, auth.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
		t.Logf("%s: ended after %v", what, time.Since(began))
	}

	f.write("users", "alice:no hash") // the former content remains
	time.Sleep(700 * time.Millisecond)
	if _, err := l.Authenticate(call(session)); err != nil {
		t.Errorf("an invalid file: %v", err)
	}
	began := time.Now()
	f.write("users", "alice:"+weakHash(t, "other"), "bob:*")
	ended("password", ofPassword, began)
	ended("session", ofSession, began)
	if _, err := l.Authenticate(call(session)); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("session: %v", err)
	}
	if _, err := l.Authenticate(call(auth.Basic("alice", "secret"))); err == nil {
		t.Error("the former password is accepted")
	}
	if _, err := l.Authenticate(call(auth.Basic("alice", "other"))); err != nil {
		t.Error(err)
	}
	if ofToken.Err() != nil {
		t.Error("the call of another user has ended")
	}
	began = time.Now()
	f.write("tokens", "# none")
	ended("token", ofToken, began)
	if _, err := l.Authenticate(call("Bearer " + token)); err == nil {
		t.Error("a revoked token is accepted")
	}
	// A call that begins between the check and the change ends too.
	p := &auth.Principal{Name: "bob", Method: auth.Token, ID: digest[:12]}
	late, stop := l.Watch(t.Context(), p)
	defer stop()
	ended("late", late, time.Now())
}

func TestExpiryEndsCalls(t *testing.T) {
	f := folder{t, t.TempDir()}
	l := open1(t, Config{Users: f.write("users", "alice:"+weakHash(t, "secret")), grace: 100 * time.Millisecond})
	p, err := l.Authenticate(call(auth.Basic("alice", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	p.Expires = time.Now().Add(50 * time.Millisecond)
	began := time.Now()
	ctx, stop := l.Watch(t.Context(), p)
	defer stop()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the call does not end")
	}
	if d := time.Since(began); d < 150*time.Millisecond {
		t.Errorf("ended after %v, before the grace", d)
	}
	if err := context.Cause(ctx); !strings.Contains(err.Error(), "expired") {
		t.Error(err)
	}
	stop()
	if n := len(l.streams.calls); n != 0 {
		t.Errorf("%d calls are still watched", n)
	}
}

func TestFailuresAreLimited(t *testing.T) {
	f := folder{t, t.TempDir()}
	now := time.Now()
	l := open1(t, Config{Users: f.write("users", "alice:"+weakHash(t, "secret")), now: func() time.Time { return now }})
	_, session, err := l.Handshake(call(auth.Basic("alice", "secret")))
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(address string) (refused int) {
		for i := range 100 {
			_, err := l.Authenticate(from(address, auth.Basic(fmt.Sprint("user", i), "guess")))
			var limit *auth.LimitError
			if errors.As(err, &limit) {
				refused++
			}
		}
		return refused
	}
	if n := wrong("192.0.2.1"); n != 100-maxFailures {
		t.Errorf("%d of 100 are refused", n)
	}
	// What is verified goes on: the session, and the password.
	for _, value := range []string{session, auth.Basic("alice", "secret")} {
		if _, err := l.Authenticate(call(value)); err != nil {
			t.Error(err)
		}
	}
	if n := wrong("192.0.2.2"); n != 100-maxFailures {
		t.Errorf("another address: %d of 100 are refused", n)
	}
	_, err = l.Authenticate(from("2001:db8::1", auth.Basic("alice", "guess")))
	if !errors.Is(err, auth.ErrUnauthenticated) {
		t.Error(err)
	}
	now = now.Add(10 * failureEvery)
	if n := wrong("192.0.2.1"); n != 90 {
		t.Errorf("later: %d of 100 are refused", n)
	}
	for i := range 3 * maxAddresses {
		end, err := l.passwords.attempts.begin(addressOf(from(fmt.Sprintf("2001:db8:0:%x::1", i))))
		if err == nil {
			end(true)
		}
	}
	if n := len(l.passwords.attempts.addresses); n > maxAddresses+1 {
		t.Errorf("%d addresses are remembered", n)
	}
}

// TestHashesAreBounded has hashes that wait until all callers have come.
func TestHashesAreBounded(t *testing.T) {
	users, err := passwords.Parse([]byte("alice:" + weakHash(t, "secret")))
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	var running, peak atomic.Int64
	v := newVerifier(func() *passwords.Users {
		if n := running.Add(1); n > peak.Load() {
			peak.Store(n)
		}
		<-release
		running.Add(-1)
		return users
	}, time.Now)
	const callers = 500
	var limited, wrong atomic.Int64
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			_, err := v.verify(from(fmt.Sprintf("192.0.2.%d", i%250)), fmt.Sprint("user", i), "guess")
			var limit *auth.LimitError
			switch {
			case errors.As(err, &limit):
				limited.Add(1)
			case errors.Is(err, auth.ErrUnauthenticated):
				wrong.Add(1)
			}
		})
	}
	for limited.Load() < callers-maxWaiting-64 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	all.Wait()
	if n := peak.Load(); n > int64(max(1, runtime.GOMAXPROCS(0)/hashShare)) {
		t.Errorf("%d hashes at once", n)
	}
	if limited.Load()+wrong.Load() != callers || wrong.Load() < maxWaiting {
		t.Errorf("%d limited, %d wrong", limited.Load(), wrong.Load())
	}
}

func TestEqualLoginsShareAHash(t *testing.T) {
	users, err := passwords.Parse([]byte("alice:" + weakHash(t, "secret")))
	if err != nil {
		t.Fatal(err)
	}
	var hashes atomic.Int64
	v := newVerifier(func() *passwords.Users {
		hashes.Add(1)
		time.Sleep(50 * time.Millisecond)
		return users
	}, time.Now)
	var all sync.WaitGroup
	for range maxAtOnce {
		all.Go(func() {
			if _, err := v.verify(call(), "alice", "secret"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := hashes.Load(); n > 2 {
		t.Errorf("%d hashes", n)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	f := folder{b, b.TempDir()}
	token, digest := tokens.New()
	l := open1(b, Config{
		Users:  f.write("users", "alice:"+weakHash(b, "secret"), "bob:*"),
		Tokens: f.write("tokens", `{"sha256":"`+digest+`","user":"bob"}`),
	})
	_, session, err := l.Handshake(call(auth.Basic("alice", "secret")))
	if err != nil {
		b.Fatal(err)
	}
	for name, value := range map[string]string{
		"password": auth.Basic("alice", "secret"), "session": session, "token": "Bearer " + token,
	} {
		b.Run(name, func(b *testing.B) {
			ctx := call(value)
			b.ReportAllocs()
			for b.Loop() {
				p, err := l.Authenticate(ctx)
				if err != nil {
					b.Fatal(err)
				}
				_, stop := l.Watch(ctx, p)
				stop()
			}
		})
	}
}

// FuzzAuthorization checks that no header panics, logs in, or has an error with the credential.
func FuzzAuthorization(f *testing.F) {
	l := fuzzLogin(f)
	for _, seed := range []string{
		"", "Basic", "Basic ", "Basic Og==", "Basic YWxpY2U6c2VjcmV0", "Bearer", "Bearer vf_", "Bearer vfs_.",
		"Bearer vfs_e30.e30", "Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer ey..", "Negotiate x", "bearer  x ",
		"Basic ====", "Bearer vfs_" + strings.Repeat("A", 100) + ".AA",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) { checkRefused(t, l, value) })
}

func fuzzLogin(t testing.TB) *Login {
	f := folder{t, t.TempDir()}
	_, digest := tokens.New()
	return open1(t, Config{
		Users:  f.write("users", "alice:"+weakHash(t, "unguessable, by any fuzzer")),
		Tokens: f.write("tokens", `{"sha256":"`+digest+`","user":"alice"}`),
	})
}

func checkRefused(t *testing.T, l *Login, value string) {
	t.Helper()
	p, err := l.Authenticate(call(value))
	var limit *auth.LimitError
	if p != nil || !errors.Is(err, auth.ErrUnauthenticated) && !errors.As(err, &limit) {
		t.Fatalf("%q: %v, %v", value, p, err)
	}
	if _, credential, _ := strings.Cut(value, " "); len(credential) > 24 && strings.Contains(err.Error(), credential) {
		t.Fatalf("%q: the error has the credential: %v", value, err)
	}
}

// TestMalformedCredentials sends 100,000 malformed headers, or 5,000 in a short run: none logs in, none
// panics, and memory does not grow with their number.
func TestMalformedCredentials(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 5_000
	}
	l := fuzzLogin(t)
	_, session, err := fuzzSession(t)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	seeds := []string{
		"Basic YWxpY2U6c2VjcmV0", "Bearer vf_abcdefghijklmnopqrstuvwxyz", session, "Bearer eyJhbGciOiJub25lIn0.e30.",
		"Negotiate x", "bearer \x00", "Basic " + strings.Repeat("QUJD", 300), "", "Basic Og",
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	send := func(n int) {
		for range n {
			b := []byte(seeds[r.IntN(len(seeds))])
			for range r.IntN(4) {
				if len(b) > 0 {
					b[r.IntN(len(b))] = byte(r.IntN(256))
				}
			}
			if r.IntN(2) == 0 {
				b = b[:r.IntN(len(b)+1)]
			}
			checkRefused(t, l, string(b))
		}
	}
	send(n / 2)
	before := heap()
	send(n / 2)
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d bytes of heap after %d headers, %d after half of them", after, n, before)
	}
}

// fuzzSession is a session of another server.
func fuzzSession(t *testing.T) (*auth.Principal, string, error) {
	f := folder{t, t.TempDir()}
	l := open1(t, Config{Users: f.write("users", "alice:"+weakHash(t, "secret"))})
	return l.Handshake(call(auth.Basic("alice", "secret")))
}
