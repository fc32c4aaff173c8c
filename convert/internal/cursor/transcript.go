package cursor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Detect recognizes a transcript of an agent by its first record, which has no members but role and
// message, and a message without a role of its own.
func Detect(head []byte) bool {
	role, said, other := false, false, false
	jsondoc.Scan(head, func(at []string, value json.Token) bool {
		switch {
		case len(at) == 0:
		case jsondoc.Match(at, "role"):
			role = value == "user" || value == "assistant"
		case jsondoc.Match(at, "message", "content"):
			_, text := value.(string)
			said = text || value == json.Delim('[')
		case len(at) == 1 && at[0] != "message", len(at) == 2 && at[0] == "message":
			other = true
		}
		return !other
	})
	return role && said && !other
}

// Identify returns the ids that the path of a transcript states.
func Identify(file string) (id, begunBy string) {
	list := strings.Split(file, "/")
	at := slices.Index(list, transcripts)
	name := strings.TrimSuffix(path.Base(file), ".jsonl")
	switch n := len(list) - 1 - at; {
	case at < 0 || name == path.Base(file):
		return "", ""
	case n == 1, n == 2 && list[at+1] == name:
		return transcripts + "/" + name, ""
	case n == 3 && list[at+2] == "subagents":
		return transcripts + "/" + name, transcripts + "/" + list[at+1]
	}
	return "", ""
}

// InDatabase returns the id of the conversation in a transcript, or of the one that began it,
// in the databases of the editor and of the command line. They do not have those of the SDK.
func InDatabase(file string) string {
	id, begunBy := Identify(file)
	id = strings.TrimPrefix(cmp.Or(begunBy, id), transcripts+"/")
	if strings.HasPrefix(id, "agent-") {
		return ""
	}
	return id
}

// transcripts is the name of the folder with transcripts of agents.
const transcripts = "agent-transcripts"

// Read reads a transcript of an agent.
func Read(in io.Reader, to transcript.Sink) error {
	s := &said{}
	err := jsonl.Read(in, to, func(l jsonl.Line) error {
		s.line(json.RawMessage(slices.Clone(l.Raw)))
		return nil
	})
	if err != nil {
		return err
	}
	s.conv.Anonymous = !slices.ContainsFunc(s.list, func(m *transcript.Message) bool { return !m.Time.IsZero() })
	return s.end(to)
}

// line reads a record of a transcript.
func (s *said) line(raw json.RawMessage) {
	v := gjson.ParseBytes(raw)
	m := &transcript.Message{}
	if m.Role = v.Get("role").Str; m.Role != "user" && m.Role != "assistant" {
		s.pending = append(s.pending, raw)
		return
	}
	list := []gjson.Result{v.Get("message.content")}
	if list[0].IsArray() {
		list = list[0].Array()
	}
	for i, p := range list {
		switch kind := p.Get("type").Str; {
		case p.Type == gjson.String:
			s.text(m, member.String(p))
		case kind == "text":
			s.text(m, member.String(p.Get("text")))
		case kind == "thinking":
			m.Parts = append(m.Parts, content.Thinking(member.String(p.Get("thinking")), ""))
		case kind == "tool_use":
			id := cmp.Or(member.String(p.Get("id")), transcript.ChainID(s.last, fmt.Appendf(nil, "%s%d", raw, i)))
			input := p.Get("input")
			arguments := member.String(input)
			if input.Type != gjson.String {
				arguments = member.Compact(input.Raw)
			}
			m.Parts = append(m.Parts, content.ToolCall(content.Call{ID: id, Name: member.String(p.Get("name")), Arguments: cmp.Or(arguments, "{}")}))
		case kind == "turn_ended":
		case p.Exists() && p.Type != gjson.Null:
			m.Parts = append(m.Parts, parts.Other(p))
		}
	}
	s.add(m, raw)
}
