package lines

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FilesDir is the folder of the attachments, relative to the workspace.
const FilesDir = "files"

// FilePath returns the path, relative to the workspace, of the attachment with
// a SHA-256.
func FilePath(sha256 string) string { return FilesDir + "/" + sha256 }

// ValidSum reports whether s is a SHA-256 in lower-case hexadecimal.
func ValidSum(s string) bool {
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}
