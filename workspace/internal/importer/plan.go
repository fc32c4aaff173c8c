package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A plan lists the changes of a line by a transcript.
type plan struct {
	added    []int             // new messages of the transcript, parents before children where possible
	complete map[string]int    // open messages of the line, and their replacements in the transcript
	amended  map[string]int    // messages of the line whose metadata.bough changes, and their index in the transcript
	outdated map[string]int    // open messages of the line that must stay, and their complete siblings in the transcript
	adopted  map[string]string // orphans of the line, and the messages that they then follow
	sources  bool              // the record of the source changes
}

func (p *plan) empty() bool {
	return len(p.added)+len(p.complete)+len(p.amended)+len(p.outdated)+len(p.adopted) == 0 && !p.sources
}

// plan computes the changes by the transcript.
func (m *merging) plan() (*plan, error) {
	p := &plan{complete: map[string]int{}, amended: map[string]int{}, outdated: map[string]int{}}
	rerecorded, ended := map[string]int{}, false // as complete; one of them is no longer open, and has new records
	open := m.unclaimed()
	for n := range m.s.messages {
		message := &m.s.messages[n]
		name := m.name(message.id)
		there := m.has(name)
		parent := m.name(message.parent)
		open[parent] = slices.DeleteFunc(open[parent], func(e *existing) bool {
			later := there == nil || there.node > e.node
			switch {
			case !later || e.answer != message.answer:
				return false
			case there == nil && !m.held(e):
				p.complete[e.id] = n
				there = e
			case !e.replaced:
				p.outdated[e.id] = n
			}
			return true
		})
		switch {
		case there == nil:
			p.added = append(p.added, n)
		case there.id != name: // it replaces an open message
		case there.says != message.says && !m.sure[message.id]:
			p.complete[there.id] = n
		default:
			amends, err := m.amends(there, n)
			if err != nil {
				return nil, err
			}
			switch {
			case amends:
				p.amended[there.id] = n
			case !m.sure[message.id] && m.rerecords(there, message):
				rerecorded[there.id] = n
				if !message.open && !ended {
					has, err := m.hasRecords(there, message)
					if err != nil {
						return nil, err
					}
					ended = !has
				}
			}
		}
	}
	if len(p.added)+len(p.complete) > 0 || ended { // else the transcript may be an older copy
		maps.Copy(p.complete, rerecorded)
	}
	var err error
	if p.adopted, err = m.adopted(); err != nil {
		return nil, err
	}
	m.breakCycles(p)
	grown := len(p.added)+len(p.complete) > 0
	m.s.grown = m.s.grown || grown && !m.dry
	m.stale = m.tail == nil && !grown && !m.s.grown && m.older()
	if m.stale {
		p.amended = nil
	}
	p.sources = m.sourcesChange(grown)
	return p, nil
}

// breakCycles makes new messages roots if orphans of the line would form a
// cycle with them, and drops corrections of guessed parents that would close a
// cycle.
func (m *merging) breakCycles(p *plan) {
	corrected := map[string]int{}
	for id, n := range p.amended {
		if m.corrects(m.has(id), &m.s.messages[n]) {
			corrected[id] = n
		}
	}
	if len(m.missing) == 0 && len(corrected) == 0 {
		return // no message of the line can follow a new one
	}
	parents := make(map[string]string, len(m.list)+len(p.added))
	for n := range m.list {
		e := &m.list[n]
		parents[e.id] = cmp.Or(e.names, e.parent)
	}
	for id, n := range corrected {
		parents[id] = m.parentOf(&m.s.messages[n])
	}
	for _, n := range p.complete {
		parents[m.name(m.s.messages[n].id)] = m.parentOf(&m.s.messages[n])
	}
	for _, n := range p.added {
		parents[m.name(m.s.messages[n].id)] = m.parentOf(&m.s.messages[n])
	}
	follows := func(id string) bool {
		at := parents[id]
		for steps := 0; at != "" && at != id && steps <= len(parents); steps++ {
			at = parents[at]
		}
		return at == id
	}
	for _, n := range p.added {
		message := &m.s.messages[n]
		if id := m.name(message.id); m.missing[id] && follows(id) {
			parents[id], m.roots[message.id] = "", true
			m.s.problem(transcript.Problem{What: fmt.Sprintf("the message %s is its own ancestor; it is treated as a root", id)})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(corrected)) {
		if follows(id) {
			delete(p.amended, id)
			e := m.has(id)
			parents[id] = cmp.Or(e.names, e.parent)
		}
	}
}

// unclaimed returns, by parent, the open messages that were imported from the
// transcript and that it does not have now: it may have their complete versions
// under other ids.
func (m *merging) unclaimed() map[string][]*existing {
	open := map[string][]*existing{}
	for n := range m.list {
		if e := &m.list[n]; e.open && e.native && m.own >= 0 {
			open[e.parent] = append(open[e.parent], e)
		}
	}
	if len(open) == 0 {
		return open
	}
	for n := range m.s.messages {
		if e := m.has(m.name(m.s.messages[n].id)); e != nil && e.open {
			open[e.parent] = slices.DeleteFunc(open[e.parent], func(o *existing) bool { return o == e })
		}
	}
	return open
}

// amends reports whether message n of the transcript has new metadata for e:
// later records, or the end of the message. The transcript must have all
// records that the line has.
func (m *merging) amends(e *existing, n int) (bool, error) {
	message := &m.s.messages[n]
	if m.own < 0 || m.sure[message.id] || !e.native || m.v.View.Kind(m.line.Parts[e.part].ID) == session.Checkpoint {
		return false, nil
	}
	if m.corrects(e, message) {
		return true, nil
	}
	closes := e.open && !message.open
	if !closes && e.records == message.records && !(e.orphan && m.joined(message) != "") {
		return false, nil
	}
	s, err := m.v.View.Reopen(m.line.Parts[e.part])
	if err != nil {
		return false, err
	}
	left := map[string]int{}
	for _, r := range records.Of(s.Messages[e.index].Raw) {
		left[string(r)]++
	}
	for k := 0; k < len(m.s.messages) && len(left) > 0; k++ {
		raw, err := m.s.rawOf(m.s.messages[(n+k)%len(m.s.messages)]) // most are nearby
		if err != nil {
			return false, err
		}
		for _, r := range records.Of(raw) {
			if left[string(r)]--; left[string(r)] <= 0 {
				delete(left, string(r))
			}
		}
	}
	if m.tail != nil && len(left) > 0 {
		return false, errWhole // they may be records of an earlier message
	}
	return len(left) == 0, nil
}

// corrects reports whether the transcript has the parent of a message whose parent was
// guessed.
func (m *merging) corrects(e *existing, message *spooled) bool {
	return e.guessed && !message.guessed
}

// sourcesChange reports whether the line's record of the transcript changes.
func (m *merging) sourcesChange(grown bool) bool {
	switch {
	case m.own < 0:
		return grown
	case m.stale || m.v.View.Kind(m.line.Parts[0].ID) == session.Checkpoint:
		return false
	}
	return grown || !bytes.Equal(lasting([]byte(m.sources[m.own].Raw)), lasting(rawjson.AppendObject(nil, m.s.source(), 0))) || m.retitled() != ""
}

// older reports whether the transcript is an older copy of an imported one: it
// lacks the title or the last message, or, if the line has no other source, any
// message or records of its format.
func (m *merging) older() bool {
	if m.own < 0 {
		return false
	}
	was := m.sources[m.own]
	if was.Get("title").Str != "" && m.s.conv.Title == "" {
		return true
	}
	names := make(map[string]bool, len(m.s.messages))
	for n := range m.s.messages {
		names[m.name(m.s.messages[n].id)] = true
	}
	if leaf := was.Get("leaf").Str; leaf != "" && !names[m.name(leaf)] {
		return true
	}
	if len(m.sources) > 1 {
		return false
	}
	return m.records > m.s.records || slices.ContainsFunc(m.list, func(e existing) bool {
		return e.native && !e.replaced && !names[e.id]
	})
}

// lasting returns the record of a source without its path, in a canonical form.
func lasting(source []byte) []byte {
	for _, name := range []string{"path", "number", "said"} {
		source, _ = sjson.DeleteBytes(source, name)
	}
	return []byte(gjson.GetBytes(source, "@ugly").Raw)
}

// retitled returns the new title of the line, "" for none. A title changes if
// it came from the import and the transcript has another one now.
func (m *merging) retitled() string {
	if m.own != 0 && !m.named() || m.stale {
		return ""
	}
	first, now := m.sources[0], cmp.Or(m.s.conv.Title, m.s.Title)
	title := m.line.Parts[0].Meta.Title
	if now == "" || now == title || title != first.Get("title").Str && title != first.Get("said").Str && !Shortened(title, now) {
		return ""
	}
	return now
}

// named reports whether the line came from the file of the transcript, which ended then before
// the id of the conversation.
func (m *merging) named() bool {
	if m.own >= 0 || len(m.sources) != 1 {
		return false
	}
	was := m.sources[0]
	return was.Get("format").Str == m.s.format.Name && !was.Get("id").Exists() && was.Get("path").Str == m.s.path
}

// Shortened reports whether title is a prefix of another title. Earlier
// versions of bough cut imported titles.
func Shortened(title, of string) bool {
	r := []rune(title)
	return len(r) == 60 && r[59] == '…' && len(of) > len(string(r[:59])) && of[:len(string(r[:59]))] == string(r[:59])
}
