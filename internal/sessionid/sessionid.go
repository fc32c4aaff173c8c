// Package sessionid generates and validates ids of sessions and messages, and
// computes their UUIDs; see docs/format.md.
package sessionid

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// IndexStem is the stem of the name of the index file, which no session can have as its
// id.
const IndexStem = "session_index"

// maxID is the maximum length of an id in bytes: with ".json" and a temporary
// suffix it fits into a file name on every system.
const maxID = 200

// Valid reports whether id can be the id of a session: a non-empty stem of a
// file name without separators, dots, wildcards, '@', quotes and control
// characters.
func Valid(id string) bool {
	if id == "" || len(id) > maxID || id == IndexStem {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return strings.ContainsRune(`/\.*?@:"<>|`, r) || unicode.IsControl(r) || r == unicode.ReplacementChar
	})
}

// New returns a session id in Penguin's shape,
// session_YYYYMMDD_HHMMSS_XXXXXXXX, with the local time of now and eight
// hexadecimal digits from random.
func New(now time.Time, random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	return "session_" + now.Local().Format("20060102_150405") + "_" + hex.EncodeToString(b[:]), nil
}

// Generated reports whether id has one of the shapes that programs generate:
// session_YYYYMMDD_HHMMSS_XXXXXXXX, the same with the prefix cp_ of Penguin's
// checkpoints, or a UUID.
func Generated(id string) bool {
	if IsUUID(id) {
		return true
	}
	stamp, ok := strings.CutPrefix(id, "session_")
	if !ok {
		stamp, ok = strings.CutPrefix(id, "cp_")
	}
	const shape = "00000000_000000_xxxxxxxx"
	if !ok || len(stamp) != len(shape) {
		return false
	}
	for i := range len(shape) {
		c := stamp[i]
		digit := c >= '0' && c <= '9'
		switch shape[i] {
		case '0':
			ok = digit
		case 'x':
			ok = digit || c >= 'a' && c <= 'f'
		default:
			ok = c == shape[i]
		}
		if !ok {
			return false
		}
	}
	return true
}

// NewMessage returns a message id: a UUID, version 4 (RFC 9562), in lower case.
// The usual package for UUIDs imports the network, which costs each start of
// the command half a millisecond.
func NewMessage(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// DefaultTitle returns the title that Penguin's index gives to a session without
// one.
func DefaultTitle(id string) string {
	return "Session " + id[max(0, len(id)-8):]
}
