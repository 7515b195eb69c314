package login

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// memo remembers results of verified credentials for a time, by a keyed digest of the credential.
// It has two generations of at most maxMemo results, so that its memory is bounded.
type memo[T any] struct {
	period time.Duration
	key    [sha256.Size]byte

	mu             sync.RWMutex
	current, older map[memoKey]memoValue[T]
}

const maxMemo = 4096

type memoKey [sha256.Size]byte

type memoValue[T any] struct {
	value T
	until time.Time
}

func newMemo[T any](period time.Duration) *memo[T] {
	m := &memo[T]{period: period, current: map[memoKey]memoValue[T]{}}
	_, _ = rand.Read(m.key[:]) // it never fails
	return m
}

// keyOf returns the digest of a credential's parts. No part but the last contains a zero byte.
func (m *memo[T]) keyOf(parts ...string) memoKey {
	text := append(make([]byte, 0, 512), m.key[:]...) // on the stack
	for i, p := range parts {
		if i > 0 {
			text = append(text, 0)
		}
		text = append(text, p...)
	}
	return sha256.Sum256(text)
}

func (m *memo[T]) get(k memoKey, now time.Time) (value T, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.current[k]
	if !ok {
		v, ok = m.older[k]
	}
	if !ok || !now.Before(v.until) {
		return value, false
	}
	return v.value, true
}

func (m *memo[T]) put(k memoKey, value T, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.current) >= maxMemo {
		m.older, m.current = m.current, map[memoKey]memoValue[T]{}
	}
	m.current[k] = memoValue[T]{value, now.Add(m.period)}
}
