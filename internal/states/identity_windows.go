package states

import (
	"os"

	"golang.org/x/sys/windows"
)

// identifyOpen returns the identity of an open directory.
func identifyOpen(dir *os.File) (Identity, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(dir.Fd()), &info); err != nil {
		return Identity{}, &os.PathError{Op: "identify", Path: dir.Name(), Err: err}
	}
	number := uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	return Identity{uint64(info.VolumeSerialNumber), number, info.CreationTime.Nanoseconds()}, nil
}
