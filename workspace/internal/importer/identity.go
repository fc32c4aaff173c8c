package importer

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
)

// identify finds the messages of the transcript in the line.
func (m *merging) identify() error {
	m.names, m.sure, m.roots = map[string]string{}, map[string]bool{}, map[string]bool{}
	for n := range m.s.messages {
		message := &m.s.messages[n]
		name, sure, err := m.nameOf(message)
		if err != nil {
			return err
		}
		if name != message.id {
			m.names[message.id] = name
		}
		if sure {
			m.sure[message.id] = true
		}
	}
	return nil
}

// nameOf returns the id that a message of the transcript has, or will get, in
// the line. sure reports that the message was exported from the line.
func (m *merging) nameOf(message *spooled) (name string, sure bool, err error) {
	if m.hasExport() {
		if part, ok := m.export.same[message.id]; ok && part.digest == message.digest && m.has(part.of) != nil {
			return part.of, true, nil
		}
	}
	there := m.has(message.id)
	if of := m.has(message.copyOf); of != nil && message.copyOf != "" && of.says == message.says {
		return message.copyOf, false, nil
	}
	if id, ok := m.below[childKey{m.name(message.parent), message.says}]; ok && there == nil && message.copyOf != "" {
		return id, false, nil // it is a copy of a copy
	}
	if there == nil {
		return m.nameOfEarlier(message)
	}
	if there.says == message.says {
		return message.id, false, nil
	}
	if earlier, err := m.isEarlier(there, message); earlier || err != nil {
		return message.id, true, err
	}
	if m.completes(there, message) {
		return message.id, false, nil
	}
	if there.native && !there.derived && there.records == message.records {
		return message.id, true, nil // an earlier version of bough read another text from the same records
	}
	raw, err := m.s.rawOf(*message)
	return transcript.ChainID(message.id, rawjson.Compact(session.Message{Raw: raw}.Text())), false, err
}

// hasExport reports whether the line has the messages that the transcript began
// with: it was exported from the line, or from a checkpoint that the line is a
// branch of.
func (m *merging) hasExport() bool {
	return m.exported || m.export != nil && (m.own >= 0 || m.isBranchOf(m.export.session))
}

// isBranchOf reports whether the line was copied from a session.
func (m *merging) isBranchOf(id string) bool { return m.line.Parts[0].Meta.BranchedFrom == id }

// extendsExport reports whether the line has more of the transcript than was
// exported, and no other leaf.
func (m *merging) extendsExport() bool {
	return m.wholePath(false) && slices.ContainsFunc(m.s.messages, func(message spooled) bool {
		return m.isThere(&message) && !m.sure[message.id]
	})
}

// name returns the id that a message of the transcript has in the line.
func (m *merging) name(id string) string { return cmp.Or(m.names[id], id) }

// certain reports whether the line is the conversation of the transcript,
// without comparing messages: the transcript was exported from the line or
// imported into it. Without an id the file may have another conversation by
// now.
func (m *merging) certain() bool {
	return m.exported || m.own >= 0 && (m.s.conv.ID != "" || m.s.conv.Anonymous && m.wholePath(false))
}

// same reports whether the messages show that the line is the conversation of
// the transcript: the line has one of its messages other than a system message,
// the transcript continues after a message of the line, or the line has all its
// messages. Without an id of the transcript, message ids are derived from
// content that other conversations may share; then the whole path must match.
func (m *merging) same() bool {
	if m.s.conv.Anonymous {
		return m.wholePath(true)
	}
	all := true
	for n := range m.s.messages {
		message := &m.s.messages[n]
		there := m.isThere(message)
		if there && !message.system {
			return true
		}
		all = all && there
	}
	return all || m.base != ""
}

// wholePath reports whether the transcript is a path of the line, or extends
// one; with answered, a path with a reply.
func (m *merging) wholePath(answered bool) bool {
	n, last := 0, ""
	for ; n < len(m.s.messages) && m.isThere(&m.s.messages[n]); n++ {
		last = m.name(m.s.messages[n].id)
		answered = answered && !m.s.messages[n].answer
	}
	return n > 0 && !answered && (n == len(m.s.messages) || m.isEnd(last))
}

// isEnd reports whether the message with an id has no child in the line.
func (m *merging) isEnd(id string) bool {
	e := m.has(id)
	return e != nil && m.line.IsLeaf(e.node)
}

// isThere reports whether the line has a message of the transcript, complete or
// open.
func (m *merging) isThere(message *spooled) bool { return m.has(m.name(message.id)) != nil }

// completes reports whether a message of the transcript is an open message of
// the line with more content, or its end.
func (m *merging) completes(there *existing, message *spooled) bool {
	return there.open && m.own >= 0 && there.native && !m.held(there)
}

// rerecords reports whether a message of the transcript is an open message of the line, with the
// same content and other records: they have the answer too, which grew. Messages after it stay.
func (m *merging) rerecords(there *existing, message *spooled) bool {
	return there.records != message.records && there.open && m.own >= 0 && there.native && !there.replaced && !holds(m.v.View, m.line, there.id)
}

// isEarlier reports whether a message of the transcript is open, and the line
// has it with all its records and more, because the transcript is an older
// copy.
func (m *merging) isEarlier(there *existing, message *spooled) (bool, error) {
	if !message.open || !there.native || m.own < 0 || there.records == message.records {
		return false, nil
	}
	return m.hasRecords(there, message)
}

// hasRecords reports whether a message of the line has all records of one of the transcript.
func (m *merging) hasRecords(there *existing, message *spooled) (bool, error) {
	raw, err := m.s.rawOf(*message)
	if err != nil {
		return false, err
	}
	s, err := m.v.View.Reopen(m.line.Parts[there.part])
	if err != nil {
		return false, err
	}
	has := map[string]bool{}
	for _, r := range records.Of(s.Messages[there.index].Raw) {
		has[string(r)] = true
	}
	return !slices.ContainsFunc(records.Of(raw), func(r json.RawMessage) bool { return !has[string(r)] }), nil
}

// nameOfEarlier returns the id of an open message of the line that the message
// completes under another id, as in formats that derive ids from the content.
func (m *merging) nameOfEarlier(message *spooled) (name string, sure bool, err error) {
	if !message.open || m.own < 0 {
		return message.id, false, nil
	}
	parent := m.name(message.parent)
	for n := range m.list {
		e := &m.list[n]
		if e.parent != parent || e.answer != message.answer || slices.ContainsFunc(m.s.messages, func(o spooled) bool { return o.id == e.id }) {
			continue
		}
		if earlier, err := m.isEarlier(e, message); earlier || err != nil {
			return e.id, true, err
		}
	}
	return message.id, false, nil
}

// held reports whether something refers to an open message, so that it must
// stay.
func (m *merging) held(e *existing) bool {
	if e.replaced || holds(m.v.View, m.line, e.id) {
		return true
	}
	for n := range m.list {
		if c := &m.list[n]; c.parent == e.id && !m.grows(c) {
			return true
		}
	}
	return false
}

// grows reports whether the message after an open one is open too, and in the
// same record: it has the results of the calls.
func (m *merging) grows(e *existing) bool {
	return e.open && e.native && e.derived && m.line.IsLeaf(e.node) && !e.replaced && !holds(m.v.View, m.line, e.id)
}
