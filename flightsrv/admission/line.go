package admission

import "slices"

// Line is a queue in which users take turns: each user has a place in the line, and the values of a
// user are in the order of their arrival. The zero Line is empty.
type Line[T comparable] struct {
	users  []string // that have values; the next one first
	values map[string][]T
	length int
}

// Len returns the number of values.
func (l *Line[T]) Len() int { return l.length }

// Of returns the number of values of a user.
func (l *Line[T]) Of(user string) int { return len(l.values[user]) }

// Push adds a value of a user.
func (l *Line[T]) Push(user string, v T) {
	if l.values == nil {
		l.values = map[string][]T{}
	}
	if len(l.values[user]) == 0 {
		l.users = append(l.users, user)
	}
	l.values[user] = append(l.values[user], v)
	l.length++
}

// Pop removes the next value: the first one of the first user that eligible accepts; nil accepts
// every user. It moves that user to the end. It reports false if no user has an eligible value.
func (l *Line[T]) Pop(eligible func(user string) bool) (user string, v T, ok bool) {
	for i, user := range l.users {
		if eligible != nil && !eligible(user) {
			continue
		}
		v = l.values[user][0]
		l.users = slices.Delete(l.users, i, i+1)
		l.cut(user, 0)
		if len(l.values[user]) > 0 {
			l.users = append(l.users, user)
		}
		return user, v, true
	}
	return "", v, false
}

// Remove removes a value of a user. It reports false if it is not in the line.
func (l *Line[T]) Remove(user string, v T) bool {
	i := slices.Index(l.values[user], v)
	if i < 0 {
		return false
	}
	if l.cut(user, i); len(l.values[user]) == 0 {
		at := slices.Index(l.users, user)
		l.users = slices.Delete(l.users, at, at+1)
	}
	return true
}

// cut removes value i of a user.
func (l *Line[T]) cut(user string, i int) {
	l.length--
	if l.values[user] = slices.Delete(l.values[user], i, i+1); len(l.values[user]) == 0 {
		delete(l.values, user)
	}
}
