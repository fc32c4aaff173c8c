//go:build !linux && !darwin

package durable

import (
	"io/fs"
	"os"
)

func newAccess(*os.Root, string) access { return access{mode: Mode} }

func bequeath(*os.Root, string) {}

func ownerOf(fs.FileInfo) *owner { return nil }

func setOwner(*os.File, owner) bool { return true }

func attrsOf(*os.Root, string) ([]attr, bool) { return nil, true }

func setAttrs(*os.File, []attr) bool { return true }
