package sockets

import "errors"

// ErrWouldBlock is the error of WriteParts for a socket that is full.
var ErrWouldBlock = errors.New("the socket is full")
