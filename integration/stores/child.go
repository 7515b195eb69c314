package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// child is a server of another language, which ends with this process.
type child struct {
	dir  string // its working folder
	cmd  *exec.Cmd
	done chan struct{}
}

func (c *child) start(name string, args ...string) (<-chan error, error) {
	c.stop()
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	cmd.Stderr = os.Stderr
	if os.Getenv("VIBEFLIGHT_STORES_LOG") == "" {
		cmd.Stderr = nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended, done := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- cmd.Wait()
		close(done)
	}()
	c.cmd, c.done = cmd, done
	return ended, nil
}

func (c *child) stop() {
	if c.cmd == nil {
		return
	}
	_ = c.cmd.Process.Kill() // it holds nothing that outlives a test
	<-c.done
	c.cmd = nil
}

// eachFile calls do with every file of a folder, by its name with slashes.
func eachFile(root string, do func(name string, f *os.File) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		name := filepath.ToSlash(relative)
		if err := do(name, f); err != nil {
			return fmt.Errorf("upload %s: %w", name, err)
		}
		return nil
	})
}
