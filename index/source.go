package index

import (
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// A Source is a conversation of another program from which a session was imported.
type Source struct {
	Format  string `json:"format"`             // of its transcript
	ID      string `json:"id"`                 // in its program
	BegunBy string `json:"begun_by,omitempty"` // of a sub-agent's: the id of the conversation that began it
}

// SourceOf decodes an element of metadata.bough.sources. ok is false if it has no id.
func SourceOf(v gjson.Result) (s Source, ok bool) {
	text := func(name string) string {
		if value := v.Get(name); value.Type == gjson.String {
			return value.Str
		}
		return ""
	}
	s = Source{text("format"), text("id"), text("begun_by")}
	return s, s.Format != "" && s.ID != ""
}

// sourcesOf decodes an array of sources, and skips those without an id.
func sourcesOf(v gjson.Result) (list []Source) {
	if !v.IsArray() {
		return nil
	}
	v.ForEach(func(_, v gjson.Result) bool {
		if s, ok := SourceOf(v); ok {
			list = append(list, s)
		}
		return true
	})
	return list
}

// hasSources reports whether the entry lists the sources of the session. A continuation has
// none, and a checkpoint those of the session that it was copied from.
func (e *Entry) hasSources() bool {
	kind := e.Kind()
	return (kind == session.Root || kind == session.Branch) && e.Setting.Tool != ""
}
