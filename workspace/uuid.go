package workspace

import (
	"strings"
	"sync"

	"github.com/bough-dev/bough/session"
)

// urn begins the name of a session or message that is named by its UUID and in no
// other way: the form of RFC 9562, section 4.
const urn = "urn:uuid:"

// uuids maps UUIDs to the sessions of a workspace. It is filled on demand; an entry
// may be stale, so results are checked.
type uuids struct {
	sync.Mutex
	ids   map[string]string // by UUID
	known map[string]bool   // ids
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
			u.ids[session.UUID(id)] = id
		}
	}
}

// uuid returns the UUID that messages of l get theirs from: that of its first file.
func (l *line) uuid() string { return session.UUID(l.Parts[0].ID) }

// withUUID returns the nodes of the message with a UUID, in lower case.
func (l *line) withUUID(uuid string) []int {
	if !session.IsUUID(uuid) {
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
			continue // it is most likely a UUID, and another one
		}
		if session.MessageUUID(own, id) == uuid {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// byUUID returns the session with a UUID, in lower case, and whether there is one.
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
