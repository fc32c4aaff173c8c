//go:build !linux && !darwin && !windows

package durable

import (
	"errors"
	"os"
)

// exchange is not to be had: there is no such call.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }
