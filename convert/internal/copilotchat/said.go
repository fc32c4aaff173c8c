package copilotchat

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// messagesOf returns the messages of a request: the prompt, and the answer, which is several
// messages if it has results of tools.
func messagesOf(n nodes.Node) []*transcript.Message {
	v := gjson.ParseBytes(n.Record)
	if !v.IsObject() {
		return nil
	}
	s := &speech{first: n.ID, answer: v.Get("responseId").Str, model: v.Get("modelId").Str, open: isOpen(n.Record)}
	s.asked = times.Milliseconds(v.Get("timestamp"))
	if s.answered = times.Milliseconds(v.Get("modelState.completedAt")); s.answered.IsZero() {
		s.answered = s.asked
	}
	s.prompt(v)
	rounds := roundsOf(v.Get("result.metadata"))
	switch response := v.Get("response"); {
	case response.Type == gjson.String:
		s.say(member.String(response))
	case rounds.covers(response) || v.Get("modelState.value").Num != complete:
		response.ForEach(func(_, p gjson.Result) bool {
			s.part(p, rounds)
			return true
		})
	default:
		s.rounds(rounds)
	}
	s.settle()
	failure := cmp.Or(member.String(v.Get("result.errorDetails.message")), member.String(v.Get("responseErrorDetails.message")))
	if failure != "" {
		s.add("assistant", notice("error", failure))
	}
	return s.list
}

// The values of the state of an answer.
const (
	pending    = 0
	complete   = 1
	needsInput = 4
)

// isOpen reports whether the answer to a request is being received. Versions without a state
// saved only complete ones.
func isOpen(record json.RawMessage) bool {
	state := gjson.GetBytes(record, "modelState.value")
	return state.Type == gjson.Number && (state.Num == pending || state.Num == needsInput)
}

// isHidden reports whether the user went back to before a request, which VS Code removes when
// the next one is sent.
func isHidden(record json.RawMessage) bool {
	v := gjson.GetBytes(record, "shouldBeRemovedOnSend")
	return v.IsObject() && v.Get("afterUndoStop").Str == "" || gjson.GetBytes(record, "isHidden").Bool()
}

// idOf returns the id of a request after another one.
func idOf(record json.RawMessage, before string) string {
	if id := requestID(record); id != "" {
		return id
	}
	return otherID(record, before)
}

func requestID(record json.RawMessage) string { return member.Text(record, "requestId") }

// otherID returns an id for a request without an id of its own. It is identified by its prompt
// and the one before it.
func otherID(record json.RawMessage, before string) string {
	v := gjson.GetManyBytes(record, "message", "timestamp")
	return transcript.ChainID(before, []byte("["+cmp.Or(v[0].Raw, "null")+","+cmp.Or(v[1].Raw, "null")+"]"))
}

var noRequest = transcript.Problem{What: "a request is not an object"}

func duplicate(id string) transcript.Problem {
	return transcript.Problem{What: "duplicate request id; the second request gets a new one: " + id}
}

// A speech is the list of the messages of a request.
type speech struct {
	first, answer   string // ids of the first message and of the answer
	model           string
	asked, answered time.Time
	list            []*transcript.Message

	// open reports whether the answer is being received: then it is one message without
	// results, because only in the end it is known which calls are of one round.
	open bool

	results []content.Part // of the calls in the last message, to be added after them
	round   int            // of these calls
	asRun   bool           // the text ends with a part that the next text continues
}

// add appends a part to the last message or, if role is not its role, to another one.
func (s *speech) add(role string, p content.Part) {
	s.asRun = false
	last := len(s.list) - 1
	if last < 0 || s.list[last].Role != role {
		m := &transcript.Message{ID: s.first, Time: s.answered, Format: format}
		if last >= 0 {
			m.ID, m.Parent = transcript.ChainID(s.first, rawjson.Compact(last+1)), s.list[last].ID
			if last == 0 && role == "assistant" && s.answer != "" && s.answer != s.first {
				m.ID = s.answer
			}
		}
		if m.Role = role; role == "assistant" {
			m.Model = s.model
		}
		s.list = append(s.list, m)
		last++
	}
	s.list[last].Parts = append(s.list[last].Parts, p)
}

// say appends text of the answer. Text after text continues it.
func (s *speech) say(text string) {
	s.settle()
	if text == "" {
		return
	}
	if s.asRun {
		list := s.list[len(s.list)-1].Parts
		list[len(list)-1].Text += text
		return
	}
	s.add("assistant", content.Text(text))
	s.asRun = true
}

// settle appends the results of the last calls.
func (s *speech) settle() {
	results := s.results
	s.results = nil
	for _, p := range results {
		s.add("user", p)
	}
}

// prompt adds the prompt of a request.
func (s *speech) prompt(v gjson.Result) {
	message := v.Get("message")
	if text := cmp.Or(member.String(message), member.String(message.Get("text"))); text != "" {
		s.add("user", content.Text(text))
	}
	v.Get("variableData.variables").ForEach(func(_, a gjson.Result) bool {
		if p, ok := attached(a); ok {
			s.add("user", p)
		}
		return true
	})
	for _, m := range s.list {
		m.Time = s.asked
		if v.Get("isSystemInitiated").Bool() {
			m.Own.Role = "system"
		}
	}
}

// attached returns the part for an attachment of a prompt, and false for one that is only a
// setting.
func attached(a gjson.Result) (content.Part, bool) {
	kind, value := cmp.Or(a.Get("kind").Str, "generic"), a.Get("value")
	if list := a.Get("values"); list.IsArray() {
		value = list.Get("0.value")
	}
	switch kind {
	case "tool", "toolset":
		return content.Part{}, false
	case "implicit":
		if a.Get("enabled").Type == gjson.False {
			return content.Part{}, false
		}
	case "image":
		mime := cmp.Or(a.Get("mimeType").Str, "image/png")
		if data := bytesOf(value); data != "" {
			return content.Image(mime, data), true
		}
		if address := value.Get("external").Str; address != "" {
			return content.ImageURL(address), true
		}
	case "paste":
		if code := member.String(a.Get("code")); code != "" {
			return parts.NewTextFile(cmp.Or(member.String(a.Get("fileName")), member.String(a.Get("name"))), code), true
		}
	}
	name := cmp.Or(pathOfURI(value), pathOfURI(value.Get("uri")), member.String(a.Get("name")), member.String(a.Get("id")))
	switch {
	case kind != "generic":
	case a.Get("isDirectory").Bool():
		kind = "directory"
	default:
		kind = "file"
	}
	return content.Part{Type: content.TypeData, Text: "[" + kind + " " + name + "]", Meta: rawjson.Compact(map[string]string{"data_type": "attachment"})}, true
}

// bytesOf returns bytes in base64. Older versions stored them as the object that JavaScript
// makes of an array: an index for each byte.
func bytesOf(v gjson.Result) string {
	if data := v.Get("$base64").Str; data != "" {
		return data
	}
	var list []byte
	ok := v.IsObject()
	v.ForEach(func(_, b gjson.Result) bool {
		ok = ok && b.Type == gjson.Number && b.Num >= 0 && b.Num < 256
		list = append(list, byte(b.Num))
		return ok
	})
	if !ok {
		return ""
	}
	return base64.StdEncoding.EncodeToString(list)
}

// pathOfURI returns the path of a URI, or the URI if it is not of a file; "" for anything else.
func pathOfURI(v gjson.Result) string {
	switch scheme := v.Get("scheme").Str; scheme {
	case "":
		return ""
	case "file":
		return cmp.Or(member.String(v.Get("fsPath")), member.String(v.Get("path")))
	default:
		return cmp.Or(member.String(v.Get("external")), scheme+"://"+v.Get("authority").Str+member.String(v.Get("path")))
	}
}

// markdown returns the text of a string, or of an object with a text in Markdown.
func markdown(v gjson.Result) string {
	return cmp.Or(member.String(v), member.String(v.Get("value")))
}

// notice returns a part with a text of the program for the user.
func notice(kind, text string) content.Part {
	return content.Part{Type: content.TypeData, Text: "[" + kind + "] " + text, Meta: rawjson.Compact(map[string]string{"data_type": kind})}
}

// part adds a part of an answer. What only shows the progress, or is a button, is in the
// record.
func (s *speech) part(p gjson.Result, rounds rounds) {
	kind := p.Get("kind").Str
	switch kind {
	case "":
		switch {
		case p.Type == gjson.String:
			s.say(member.String(p))
		case p.Get("value").Type == gjson.String:
			s.say(member.String(p.Get("value")))
		default: // a tree of files
			s.settle()
			s.add("assistant", parts.Unknown("treeData", p))
		}
	case "markdownContent", "markdownVuln":
		s.say(markdown(p.Get("content")))
	case "inlineReference":
		s.say(reference(p))
	case "thinking":
		text := member.String(p.Get("value"))
		for _, line := range p.Get("value").Array() {
			if p.Get("value").IsArray() {
				text += member.String(line)
			}
		}
		if s.settle(); text != "" {
			s.add("assistant", content.Thinking(text, ""))
		}
	case "toolInvocationSerialized", "toolInvocation":
		s.call(p, rounds)
	case "textEditGroup", "notebookEditGroup":
		s.settle()
		s.add("assistant", content.Part{Type: content.TypeData, Text: "[edited " + pathOfURI(p.Get("uri")) + "]", Meta: rawjson.Compact(map[string]string{"data_type": kind})})
	case "confirmation":
		s.settle()
		s.add("assistant", notice(kind, parts.JoinLines(member.String(p.Get("title")), markdown(p.Get("message")))))
	case "elicitationSerialized", "elicitation", "elicitation2":
		s.settle()
		s.add("assistant", notice("elicitation", parts.JoinLines(markdown(p.Get("title")), markdown(p.Get("message")))))
	case "warning", "info", "systemNotification":
		s.settle()
		s.add("assistant", notice(kind, markdown(p.Get("content"))))
	case "progressMessage", "progressTask", "progressTaskSerialized", "undoStop", "codeblockUri", "command", "prepareToolInvocation",
		"mcpServersStarting", "mcpServersStartingSlow", "mcpAuthenticationRequired", "extensions", "hook", "autoModeResolution",
		"voiceProgress", "clearToPreviousToolInvocation", "disabledClaudeHooks":
	default:
		s.settle()
		s.add("assistant", parts.Unknown(kind, p))
	}
}

// reference returns the text for a reference in the text, as VS Code copies it: the name of a file,
// or that of a symbol as code.
func reference(p gjson.Result) string {
	at := p.Get("inlineReference")
	uri := at
	switch name := member.String(at.Get("name")); {
	case at.Get("uri").IsObject():
		uri = at.Get("uri")
	case name != "":
		return "`" + name + "`"
	}
	file := pathOfURI(uri)
	if strings.HasPrefix(uri.Get("scheme").Str, "http") {
		return file
	}
	return path.Base(strings.ReplaceAll(cmp.Or(file, "?"), `\`, "/"))
}
