package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/gofiber/fiber/v3"
)

// requestLog writes a line per request to a file: method, path, status, range of the request, bytes
// of the answer. Fields are separated by tabs; "-" is an absent range.
type requestLog struct {
	mu   sync.Mutex
	file *os.File
}

func openRequestLog(path string) (*requestLog, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &requestLog{file: file}, nil
}

// add writes the line of a request that was answered. A line is in the file before the client has
// the answer.
func (l *requestLog) add(c fiber.Ctx) {
	length := c.Response().Header.ContentLength()
	if c.Method() == fiber.MethodHead {
		length = 0
	}
	asked := c.Get(fiber.HeaderRange)
	if asked == "" {
		asked = "-"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.file, "%s\t%s\t%d\t%s\t%d\n", c.Method(), c.Path(), c.Response().StatusCode(), asked, length)
}
