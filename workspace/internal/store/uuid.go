package store

import (
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/sessionid"
)

// urn is the prefix of a name that is a UUID and nothing else, the form of RFC
// 9562, section 4.
const urn = "urn:uuid:"

// uuids maps UUIDs to the sessions of a workspace. It is filled on demand.
// Entries may be stale, so callers check results.
type uuids struct {
	sync.Mutex
	ids   map[string]string // by UUID
	known map[string]bool   // the ids in it
}

// SessionID returns the id of the session with a UUID, if it is known.
func (u *uuids) SessionID(uuid string) (id string, ok bool) {
	u.Lock()
	defer u.Unlock()
	id, ok = u.ids[uuid]
	return id, ok
}

// learn adds the ids of sessions.
func (u *uuids) learn(ids []string) {
	u.Lock()
	defer u.Unlock()
	if u.ids == nil {
		u.ids, u.known = map[string]string{}, map[string]bool{}
	}
	for _, id := range ids {
		if !u.known[id] {
			u.known[id] = true
			u.ids[sessionid.UUID(id)] = id
		}
	}
}

// UUID returns the UUID from which those of messages derive: that of the line's
// first file.
func (l *Line) UUID() string { return sessionid.UUID(l.Parts[0].ID) }

// withUUID returns the nodes of the message with a UUID, which must be in lower
// case.
func (l *Line) withUUID(uuid string) []int {
	if !sessionid.IsUUID(uuid) {
		return nil
	}
	if nodes := l.Find(uuid); len(nodes) > 0 {
		return nodes
	}
	var nodes []int
	own := l.UUID()
	for n := range l.Len() {
		id := l.ID(n)
		if len(id) == len(uuid) && !strings.EqualFold(id, uuid) {
			continue // the id is most likely another UUID
		}
		if sessionid.MessageUUID(own, id) == uuid {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// ByUUID returns the session with a UUID, which must be in lower case, and
// reports whether there is one.
func (v *View) ByUUID(uuid string) (id string, ok bool) {
	if uuid == "" {
		return "", false
	}
	if v.Has(uuid) {
		return uuid, true
	}
	id, ok = v.Store.uuids.SessionID(uuid)
	if ok && v.Has(id) {
		return id, true
	}
	ids := v.Index.IDs()
	for cp := range v.Penguin {
		ids = append(ids, cp)
	}
	v.Store.uuids.learn(ids)
	id, ok = v.Store.uuids.SessionID(uuid)
	return id, ok && v.Has(id)
}
