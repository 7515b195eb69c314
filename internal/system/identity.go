package system

import "io/fs"

// FolderID tells folders of this host apart.
type FolderID struct{ Device, Index uint64 }

// Stat is what the system knows of a file, without its path.
type Stat struct {
	Device, Inode uint64 // zeros on Windows, which tells them only of open files
	Changed       int64  // nanoseconds since the epoch: of the last change of its state; its creation on Windows
	Allocated     int64  // bytes on the disk, without holes; its size on Windows
}

// StatOf returns what the system knows of a described file. It returns false for a description that
// is not the system's.
func StatOf(info fs.FileInfo) (Stat, bool) { return statOf(info) }

// IDOf identifies a described folder. path leads to it, through links if need be.
func IDOf(info fs.FileInfo, path string) FolderID { return idOf(info, path) }
