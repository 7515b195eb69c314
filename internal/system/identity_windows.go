package system

import (
	"hash/fnv"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

func statOf(info fs.FileInfo) (Stat, bool) {
	st, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return Stat{}, false
	}
	return Stat{Changed: st.CreationTime.Nanoseconds(), Allocated: info.Size()}, true
}

// idOf asks for the file index, which a description does not have. A folder that can't be opened is
// known by its path.
func idOf(_ fs.FileInfo, path string) FolderID {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var st windows.ByHandleFileInformation
		if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &st) == nil {
			return FolderID{uint64(st.VolumeSerialNumber), uint64(st.FileIndexHigh)<<32 | uint64(st.FileIndexLow)}
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // it has no errors
	return FolderID{Index: h.Sum64()}
}
