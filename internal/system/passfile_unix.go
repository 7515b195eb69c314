//go:build unix

package system

import (
	"errors"
	"net"
	"os"
	"syscall"
)

func passFiles(c *net.UnixConn, mark byte, files []*os.File) error {
	var rights []byte
	if len(files) > 0 {
		descriptors := make([]int, len(files))
		for i, f := range files {
			descriptors[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(descriptors...)
	}
	_, _, err := c.WriteMsgUnix([]byte{mark}, rights, nil)
	return err
}

func receiveFiles(c *net.UnixConn, mark byte, name string) (files []*os.File, err error) {
	const descriptorBytes = 4
	text, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(MaxFiles*descriptorBytes))
	n, m, _, _, err := c.ReadMsgUnix(text, rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return nil, err
	}
	for i := range messages {
		descriptors, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		for _, fd := range descriptors {
			syscall.CloseOnExec(fd) // ReadMsgUnix has done it where one call does both
			files = append(files, os.NewFile(uintptr(fd), name))
		}
	}
	if n != 1 || text[0] != mark {
		err = ErrNoDescriptor
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	return files, nil
}
