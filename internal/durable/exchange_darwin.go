package durable

import "golang.org/x/sys/unix"

func exchangeIn(dir int, a, b string) error {
	return unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP)
}
