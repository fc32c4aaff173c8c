package durable

import "golang.org/x/sys/unix"

func renameNew(dirA int, a string, dirB int, b string) error {
	return unix.RenameatxNp(dirA, a, dirB, b, unix.RENAME_EXCL)
}
