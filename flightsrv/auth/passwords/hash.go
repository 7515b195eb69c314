package passwords

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Parameters of argon2id for new passwords: the minimum that OWASP recommends.
const (
	memoryKiB   = 19 << 10
	passes      = 2
	parallelism = 1
	saltBytes   = 16
	keyBytes    = 32
)

// Maxima of the parameters of a hash in a file.
const (
	maxMemoryKiB = 256 << 10
	maxPasses    = 16
	maxLanes     = 16
	maxKeyBytes  = 64
	maxCost      = 16 // of bcrypt
)

// MaxBytes bounds a password. bcrypt reads the first 72 bytes alone, and such passwords are at most
// as long.
const MaxBytes = 1024

// NoPassword is the hash of a user without a password, which logs in by tokens or certificates.
const NoPassword = "*"

// hash verifies passwords.
type hash interface {
	matches(password string) bool
}

// NewHash returns a hash of a password by argon2id with a random salt, as PHC string:
//
//	$argon2id$v=19$m=19456,t=2,p=1$SALT$KEY
func NewHash(password string) (string, error) {
	if password == "" {
		return "", errors.New("the password is empty")
	}
	if len(password) > MaxBytes {
		return "", fmt.Errorf("the password has %d bytes, at most %d", len(password), MaxBytes)
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	key := argon2.IDKey([]byte(password), salt, passes, memoryKiB, parallelism, keyBytes)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, parallelism,
		b64.EncodeToString(salt), b64.EncodeToString(key)), nil
}

// parseHash parses a hash of argon2id or bcrypt, or NoPassword.
func parseHash(text string) (hash, error) {
	switch {
	case text == NoPassword:
		return noHash{}, nil
	case strings.HasPrefix(text, "$argon2id$"):
		return parseArgon2(text)
	case strings.HasPrefix(text, "$2a$"), strings.HasPrefix(text, "$2b$"), strings.HasPrefix(text, "$2y$"):
		cost, err := bcrypt.Cost([]byte(text))
		if err != nil {
			return nil, errors.New("the bcrypt hash is invalid")
		}
		if cost > maxCost {
			return nil, fmt.Errorf("bcrypt: the cost is %d, at most %d", cost, maxCost)
		}
		return bcryptHash(text), nil
	}
	return nil, errors.New("want a hash of argon2id (vibeflight user) or bcrypt (htpasswd -B), or * for none")
}

type noHash struct{}

func (noHash) matches(string) bool { return false }

type bcryptHash []byte

func (h bcryptHash) matches(password string) bool {
	return bcrypt.CompareHashAndPassword(h, []byte(password)) == nil
}

type argon2Hash struct {
	memory, passes uint32
	parallelism    uint8
	salt, key      []byte
}

func (h *argon2Hash) matches(password string) bool {
	key := argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.parallelism, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1
}

func parseArgon2(text string) (*argon2Hash, error) {
	fields := strings.Split(text, "$")
	h := &argon2Hash{}
	if len(fields) != 6 {
		return nil, errors.New("argon2id: want $argon2id$v=19$m=…,t=…,p=…$salt$key")
	}
	if fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, fmt.Errorf("argon2id: want version %d, got %.20q", argon2.Version, fields[2])
	}
	parameters := fields[3]
	_, err := fmt.Sscanf(parameters, "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.parallelism)
	if err != nil || fmt.Sprintf("m=%d,t=%d,p=%d", h.memory, h.passes, h.parallelism) != parameters {
		return nil, fmt.Errorf("argon2id: want m=…,t=…,p=…, got %.40q", parameters)
	}
	if h.passes < 1 || h.passes > maxPasses || h.parallelism < 1 || h.parallelism > maxLanes ||
		h.memory < 8*uint32(h.parallelism) || h.memory > maxMemoryKiB {
		return nil, fmt.Errorf("argon2id: %s: at most m=%d,t=%d,p=%d", parameters, maxMemoryKiB, maxPasses, maxLanes)
	}
	var saltErr, keyErr error
	h.salt, saltErr = base64.RawStdEncoding.DecodeString(fields[4])
	h.key, keyErr = base64.RawStdEncoding.DecodeString(fields[5])
	if saltErr != nil || keyErr != nil || len(h.salt) < 8 || len(h.salt) > maxKeyBytes || len(h.key) < 16 ||
		len(h.key) > maxKeyBytes {
		return nil, errors.New("argon2id: salt or key is invalid")
	}
	return h, nil
}
