package session

import (
	"strings"

	"github.com/google/uuid"
)

// namespace is the UUID that those of sessions are computed in.
const namespace = "5f0f9d3a-7c55-5d0c-9a31-0a6f62f4c1b7"

// UUID returns the UUID that a session goes by where nothing else will do: its id
// if that is one, in lower case, else version 5 (RFC 9562) of a namespace of bough's
// and the id. It is computed and never stored.
func UUID(id string) string {
	if u, ok := ownUUID(id); ok {
		return u
	}
	return MessageUUID(namespace, id)
}

// MessageUUID returns the UUID that a message goes by: its id if that is one, in
// lower case, else version 5 of the UUID of its session, which is the first of its
// line, and the id.
func MessageUUID(sessionUUID, id string) string {
	if u, ok := ownUUID(id); ok {
		return u
	}
	return uuid.NewSHA1(uuid.MustParse(sessionUUID), []byte(id)).String()
}

// IsUUID reports whether id is a UUID in its usual form, in either case.
func IsUUID(id string) bool {
	_, ok := ownUUID(id)
	return ok
}

// ownUUID returns id if it is a UUID in its usual form, in lower case.
func ownUUID(id string) (string, bool) {
	const length = 36
	if len(id) != length || uuid.Validate(id) != nil {
		return "", false
	}
	return strings.ToLower(id), true
}
