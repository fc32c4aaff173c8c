package sessionid

import (
	"strings"

	"github.com/google/uuid"
)

// namespace is the namespace of session UUIDs.
const namespace = "5f0f9d3a-7c55-5d0c-9a31-0a6f62f4c1b7"

// UUID returns the UUID of a session: its id in lower case if that is a UUID, else
// version 5 (RFC 9562) of bough's namespace and the id. It is computed and never
// stored.
func UUID(id string) string {
	if u, ok := ownUUID(id); ok {
		return u
	}
	return MessageUUID(namespace, id)
}

// MessageUUID returns the UUID of a message: its id in lower case if that is a
// UUID, else version 5 of sessionUUID, the UUID of the first session of its line,
// and the id.
func MessageUUID(sessionUUID, id string) string {
	if u, ok := ownUUID(id); ok {
		return u
	}
	return uuid.NewSHA1(uuid.MustParse(sessionUUID), []byte(id)).String()
}

// IsUUID reports whether id is a UUID in its standard form, in either case.
func IsUUID(id string) bool {
	_, ok := ownUUID(id)
	return ok
}

// ownUUID returns id in lower case and reports whether it is a UUID in its standard
// form.
func ownUUID(id string) (string, bool) {
	const length = 36
	if len(id) != length || uuid.Validate(id) != nil {
		return "", false
	}
	return strings.ToLower(id), true
}
