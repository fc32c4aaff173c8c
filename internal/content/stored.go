package content

import "encoding/json"

// Stored is the form of a message in a session file.
type Stored struct {
	Role    string          // user, assistant, system or tool
	Content json.RawMessage // a string or an array of parts
	Own     []Member        // of metadata.bough
}

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

// Stored returns the form of m in a session file. [Read] restores m from it, except
// for the form fields of files.
func (m *Message) Stored() Stored {
	s := Stored{Role: m.Role}
	own := func(name string, value []byte) { s.Own = append(s.Own, Member{name, value}) }
	if m.Own.Format != "" {
		own(keyFormat, appendText(nil, string(m.Own.Format)))
	}
	if m.Own.Name != "" {
		own(keyName, appendText(nil, m.Own.Name))
	}
	switch {
	case m.Role == user && (m.Own.Role == "system" || m.Own.Role == "developer"):
		s.Role = "system"
	case m.Role == user && m.onlyResults():
		s.Role = "tool"
	}
	if m.Own.Role != "" && !(s.Role == "system" && m.Own.Role == "system") {
		own(keyRole, appendText(nil, m.Own.Role))
	}
	if m.Own.Rest != nil {
		own(keyRest, m.Own.Rest)
	}
	if m.isPlain() {
		s.Content = appendText(nil, m.Parts[0].Text)
		return s
	}
	var w writer
	m.appendParts(&w)
	s.Content = w.b
	return s
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
