package bucket

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace/fault"
)

// maxName and maxPart are the maximum lengths of a name and of a part of it, in bytes. A file
// system allows a part of 255 bytes, and the copies of a sync program have longer names.
const (
	maxName = 512
	maxPart = 150
)

// CheckName returns an error unless name is one of an object: at most 512 bytes in parts that are
// separated by slashes. A part has 1 to 150 lower-case letters, digits, "-" and ".", and neither
// begins nor ends with ".". A name of a copy that Syncthing makes is invalid too.
func CheckName(name string) error {
	if !validName(name) {
		return invalid("an object", name)
	}
	return nil
}

// Check returns an error unless Prefix and After are the beginnings of names.
func (o ListOptions) Check() error {
	for _, s := range []string{o.Prefix, o.After} {
		if whole, ok := strings.CutSuffix(s, "/"); s != "" && !validName(s) && !(ok && validName(whole)) && !validName(s+"x") {
			return invalid("objects to list", s)
		}
	}
	return nil
}

func invalid(what, name string) error {
	return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid name of %s: %.100q", what, name)}
}

func validName(name string) bool {
	if len(name) > maxName || strings.Contains(name, syncthingCopy) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || len(part) > maxPart || part[0] == '.' || part[len(part)-1] == '.' {
			return false
		}
		for i := range len(part) {
			if c := part[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.') {
				return false
			}
		}
	}
	return true
}

// checkPut returns an error unless the object may be stored.
func checkPut(name string, data []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return CheckSize(name, int64(len(data)))
}

// CheckSize returns an error if an object has more than MaxObject bytes.
func CheckSize(name string, size int64) error {
	if size > MaxObject {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the object %s has %d bytes; at most %d are allowed", name, size, MaxObject)}
	}
	return nil
}
