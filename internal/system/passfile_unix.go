//go:build unix

package system

import (
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

func receiveFile(c *net.UnixConn, mark byte, name string) (*os.File, error) {
	const descriptorBytes = 4
	text, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(descriptorBytes))
	n, m, _, _, err := c.ReadMsgUnix(text, rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return nil, err
	}
	if n != 1 || text[0] != mark || len(messages) != 1 {
		return nil, ErrNoDescriptor
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(descriptors[0]) // ReadMsgUnix has done it where one call does both
	return os.NewFile(uintptr(descriptors[0]), name), nil
}
