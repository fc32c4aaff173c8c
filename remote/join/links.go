package join

import (
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A link says which sessions to look at for something else, without reading all sessions.
type link struct {
	kind linkKind
	from string
}

type linkKind string

const (
	continues linkKind = "continues" // from a session to those that continue it
	snapshots linkKind = "snapshots" // from a message to the snapshots whose branch point it is
	undone    linkKind = "undone"    // from a message to the session where its append was undone
	purged    linkKind = "purged"    // from nothing to the sessions that are to leave the store
)

func (l link) key(id string) string {
	return linkRow + string(l.kind) + separator + l.from + separator + id
}

// linksOf yields the links to a session, some maybe twice.
func linksOf(e *Entity) iter.Seq[link] {
	return func(yield func(link) bool) {
		shell := e.Registers["shell"].Value
		if isContinuation(shell) && !yield(link{continues, OriginOf(shell)}) {
			return
		}
		if at := gjson.GetBytes(shell, "metadata.branch_point").Str; at != "" && !strings.ContainsAny(at, separator+"\t\n") && !yield(link{snapshots, at}) {
			return
		}
		for _, el := range e.Sets["undone"] {
			if id := text(el.Value); id != "" && !strings.ContainsAny(id, separator+"\t\n") && !yield(link{undone, id}) {
				return
			}
		}
		if string(e.Registers[purgedField].Value) == "true" {
			yield(link{purged, ""})
		}
	}
}

const purgedField = "purged"

// OriginOf returns the session that one with a shell continues or was copied from, "" if there is none.
func OriginOf(shell []byte) string {
	from := gjson.GetBytes(shell, "metadata.continued_from.0").Str
	if from == "" {
		from = gjson.GetBytes(shell, "metadata.branched_from").Str
	}
	if strings.ContainsAny(from, separator+"\t\n") {
		return ""
	}
	return from
}

// Continues reports whether a session is a continuation: it has an origin and is not a snapshot.
func (s *Session) Continues() bool { return isContinuation(s.Shell) }

func isContinuation(shell []byte) bool {
	return gjson.GetBytes(shell, "metadata.continued_from.0").Str != "" && OriginOf(shell) != "" &&
		gjson.GetBytes(shell, "metadata.branched_from").Str == "" && gjson.GetBytes(shell, "metadata.branch_point").Str == ""
}

// Continuations returns the ids of the sessions that continue a session.
func (s *State) Continuations(id string) []string { return s.links(link{continues, id}) }

// Snapshots returns the ids of the snapshots whose branch point is a message.
func (s *State) Snapshots(message string) []string { return s.links(link{snapshots, message}) }

// Undone returns the ids of the sessions where the append of a message was undone.
func (s *State) Undone(message string) []string { return s.links(link{undone, message}) }

// Purged returns the ids of the sessions that are to leave the store.
func (s *State) Purged() []string { return s.links(link{purged, ""}) }

// links returns the ids of the sessions with a link, ascending.
func (s *State) links(l link) (ids []string) {
	if s.rows != nil {
		prefix := l.key("")
		for key := range s.rows.Scan(prefix) {
			id := key[len(prefix):]
			if sl := s.entities[sessionKind+id]; sl == nil || !sl.changed {
				ids = append(ids, id)
			}
		}
	}
	if s.linked == nil {
		s.linked = map[link][]string{}
		for name, sl := range s.entities {
			if id, ok := strings.CutPrefix(name, sessionKind); ok && (sl.changed || s.rows == nil) {
				for other := range linksOf(s.entity(name)) {
					s.linked[other] = append(s.linked[other], id)
				}
			}
		}
	}
	ids = append(ids, s.linked[l]...)
	slices.Sort(ids)
	return slices.Compact(ids)
}
