//go:build !linux

package durable

import (
	"errors"
	"os"
)

// cloneBlock returns 0: only Linux clones ranges of files. clonefile of macOS clones whole
// files.
func cloneBlock(*os.Root, string) int { return 0 }

func cloneRange(_, _ *os.File, _, _, _ int64) error { return errors.ErrUnsupported }
