package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

func TestLocationsOfReplicas(t *testing.T) {
	plain, err := NewPeers("a", false, "")
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := NewPeers("a", true, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		locations string
		target    string // "": none
		secure    bool   // the caller's credentials are encrypted
		refused   bool   // by a replica that serves TLS
	}{
		{"grpc://b:1", "dns:///b:1", false, true},
		{"grpc+tcp://10.0.0.1:1", "dns:///10.0.0.1:1", false, true},
		{"grpc+tcp://127.0.0.1:1", "dns:///127.0.0.1:1", false, false},
		{"grpc+tls://b:1", "dns:///b:1", true, false},
		{"grpc+unix:///run/s", "unix:///run/s", false, false},
		{"arrow-flight-reuse-connection://? grpc+tls://b:2", "dns:///b:2", true, false},
		{"http://b:1", "", false, false},
		{":// \x00", "", false, false},
		{"", "", false, false},
	} {
		r := fleetstore.Replica{ID: "b", Locations: strings.Fields(test.locations)}
		for _, p := range []*Peers{plain, encrypted} {
			want := test.target
			if p.encrypted && test.refused {
				want = ""
			}
			target, creds, err := p.target(r)
			if target != want || (err == nil) != (want != "") {
				t.Errorf("%q: %q, %v, want %q", test.locations, target, err, want)
			}
			if err == nil && (creds.Info().SecurityProtocol == "tls") != test.secure {
				t.Errorf("%q: %+v", test.locations, creds.Info())
			}
		}
	}
}

func TestCertificatesOfPeers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	if _, err := NewPeers("a", true, path); err == nil || !strings.Contains(err.Error(), "--peer-ca") {
		t.Errorf("a file that is missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPeers("a", true, path); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("a file without a certificate: %v", err)
	}
}

func TestErrorsOfLostReplicas(t *testing.T) {
	for has, want := range map[Thing]string{
		Result: "send the query again", Statement: "prepare it again", Session: "set its options again", Table: "ask again",
	} {
		err := &UnreachableError{Replica: "b", Has: has}
		if !strings.Contains(err.Error(), "replica b had "+string(has)) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}
