package workspace

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

func (u *uuids) id(uuid string) (id string, ok bool) {
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

// uuid returns the UUID from which those of messages derive: that of the line's
// first file.
func (l *line) uuid() string { return sessionid.UUID(l.Parts[0].ID) }

// withUUID returns the nodes of the message with a UUID, which must be in lower
// case.
func (l *line) withUUID(uuid string) []int {
	if !sessionid.IsUUID(uuid) {
		return nil
	}
	if nodes := l.Find(uuid); len(nodes) > 0 {
		return nodes
	}
	var nodes []int
	own := l.uuid()
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

// byUUID returns the session with a UUID, which must be in lower case, and
// reports whether there is one.
func (v *View) byUUID(uuid string) (id string, ok bool) {
	if uuid == "" {
		return "", false
	}
	if v.has(uuid) {
		return uuid, true
	}
	id, ok = v.store.uuids.id(uuid)
	if ok && v.has(id) {
		return id, true
	}
	ids := v.index.IDs()
	for cp := range v.penguin {
		ids = append(ids, cp)
	}
	v.store.uuids.learn(ids)
	id, ok = v.store.uuids.id(uuid)
	return id, ok && v.has(id)
}
