//go:build !windows

package durable

import "os"

// syncDir makes the names in a folder survive a power failure.
func syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
