package database

import "golang.org/x/sys/windows"

// freeSpace returns how many bytes can be written to a folder, and whether that is known.
func freeSpace(dir string) (n int64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return int64(min(free, 1<<62)), err == nil
}
