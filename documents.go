// Package bough has the documents of bough: what the command shows with 'bough help --web'.
// The packages below it are the library; package workspace is its front door.
package bough

import "embed"

// Documents are README.md, CHANGELOG.md, CONTRIBUTING.md and LICENSE, and in docs the documents,
// the listings of the packages and the pictures, at the paths that they have in the repository.
//
//go:embed README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs/*.md docs/api docs/pictures/*.png docs/pictures/*.gif docs/pictures/*.svg
var Documents embed.FS
