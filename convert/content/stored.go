package content

import "encoding/json"

// A Member is a member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// The members of metadata.bough.
const (
	keyFormat = "format"
	keyName   = "name"
	keyRole   = "original_role"
	keyRest   = "rest"
)

// Stored returns the form of m in a session file: the role user, assistant, system or
// tool, the content, a string or an array of parts, and members of metadata.bough. [Read]
// restores m from it, except for the form fields of files.
func (m *Message) Stored() (role string, content json.RawMessage, own []Member) {
	role = m.Role
	add := func(name string, value []byte) { own = append(own, Member{name, value}) }
	if m.Own.Format != "" {
		add(keyFormat, appendText(nil, string(m.Own.Format)))
	}
	if m.Own.Name != "" {
		add(keyName, appendText(nil, m.Own.Name))
	}
	switch {
	case m.Role == user && (m.Own.Role == "system" || m.Own.Role == "developer"):
		role = "system"
	case m.Role == user && m.onlyResults():
		role = "tool"
	}
	if m.Own.Role != "" && !(role == "system" && m.Own.Role == "system") {
		add(keyRole, appendText(nil, m.Own.Role))
	}
	if m.Own.Rest != nil {
		add(keyRest, m.Own.Rest)
	}
	if m.isPlain() {
		return role, appendText(nil, m.Parts[0].Text), own
	}
	var w writer
	m.appendParts(&w)
	return role, w.b, own
}

func (m *Message) onlyResults() bool {
	for i := range m.Parts {
		if m.Parts[i].Type != TypeToolResult {
			return false
		}
	}
	return len(m.Parts) > 0
}

// isPlain reports whether m is a single text.
func (m *Message) isPlain() bool {
	if len(m.Parts) != 1 {
		return false
	}
	p := &m.Parts[0]
	return p.Type == TypeText && p.Asset == nil && p.Filename == "" && len(p.Meta) == 0
}
