//go:build !linux && !darwin

package durable

import "io/fs"

func (*Identity) system(fs.FileInfo) {}
