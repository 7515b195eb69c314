// Package systemtest has calls of the operating system that only tests use.
package systemtest
