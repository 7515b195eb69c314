//go:build unix

package system

import (
	"io/fs"
	"syscall"
)

func statOf(info fs.FileInfo) (Stat, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{}, false
	}
	return Stat{
		Device: uint64(st.Dev), Inode: st.Ino, Changed: changeTime(st), Allocated: st.Blocks * 512,
	}, true
}

func idOf(info fs.FileInfo, _ string) FolderID {
	st, _ := statOf(info)
	return FolderID{st.Device, st.Inode}
}
