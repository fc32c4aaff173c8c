package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// programPath returns the path of this program as the user or a package manager named it. On
// Linux [os.Executable] resolves symbolic links: what it returns may be the folder of one
// version, which the next version of the package removes. A link to it remains valid.
func programPath() (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", err
	}
	named, err := exec.LookPath(os.Args[0])
	if err != nil {
		return real, nil
	}
	if named, err = filepath.Abs(named); err == nil && isSameFile(named, real) {
		return named, nil
	}
	return real, nil
}

// isSameFile reports whether two paths lead to the same file.
func isSameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
