package durable

import "golang.org/x/sys/unix"

func exchangeIn(dir int, a, b string) error {
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}
