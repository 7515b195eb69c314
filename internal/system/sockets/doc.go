// Package sockets has what Go's library lacks for sockets: writes of many parts without waiting, and
// the longest path of a unix socket.
package sockets
