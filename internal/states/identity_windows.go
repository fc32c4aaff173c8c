package states

import (
	"os"

	"golang.org/x/sys/windows"
)

// identify returns the identity of a directory.
func identify(dir string) (Identity, error) {
	f, err := os.Open(dir)
	if err != nil {
		return Identity{}, err
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return Identity{}, &os.PathError{Op: "identify", Path: dir, Err: err}
	}
	number := uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	return Identity{uint64(info.VolumeSerialNumber), number, info.CreationTime.Nanoseconds()}, nil
}
