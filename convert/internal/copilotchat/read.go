// Package copilotchat reads and writes the chats of VS Code with GitHub Copilot, or with
// another participant.
//
// A chat is one object: with the members version (3), sessionId, creationDate in milliseconds,
// customTitle, and the list requests. Version 2 has computedTitle. Before version 1.109 of VS
// Code, a file has the object. Since then it has a journal, with an entry per line:
//
//	{"kind":0,"v":OBJECT}                    the chat
//	{"kind":1,"k":PATH,"v":VALUE}            sets a member or an element
//	{"kind":2,"k":PATH,"v":LIST,"i":INDEX}   removes all from the index on, and appends the list
//	{"kind":3,"k":PATH}                      removes a member
//
// Only the first line has kind 0. When there are more than 1024 entries, VS Code writes the
// file anew. A chat that the user exported is the object with requests, responderUsername and
// initialLocation only.
//
// A request has the prompt (message, variableData), its timestamp, the model, and the parts of
// the answer (response): texts in Markdown, references, thinking, calls of tools, edits, and
// many that only show the progress. The extension keeps the requests to the model in
// result.metadata, toolCallRounds with the calls and toolCallResults with their results; a part
// for the user has only a sentence about a call. Both are in the answer to one request, which
// is read as several messages, one for each change of the speaker. modelState is 0 or 4 while
// the answer is received.
//
// When the user goes back to an earlier prompt, the later requests get the member
// shouldBeRemovedOnSend and are removed when the next prompt is sent. In a journal, they are
// still in the entries before that: all requests that were ever in the chat are read, and each
// follows the one before it when it first arrived. So those that were removed are a side
// branch. With the member afterUndoStop, only a part of an answer was undone; all of it is read.
//
// The record of a request is the request, that of the conversation the object with an empty
// list of requests. The forms are those of chatModel.ts, chatSessionStore.ts,
// chatSessionOperationLog.ts and objectMutationLog.ts, and of chatService.ts and
// chatVariableEntries.ts, in src/vs/workbench/contrib/chat/common of the repository
// microsoft/vscode, as of the npm package @codingame/monaco-vscode-chat-service-override 36.2.7,
// and of src/extension/prompt/common/conversation.ts and intents.ts in
// microsoft/vscode-copilot-chat. With the code of that package the fixtures journal.jsonl,
// back.json and exported.json were made; older.json and damaged.jsonl were made by hand.
//
// VS Code shows a chat only if its database lists it; see [transcript.Register]. The lock is that
// of src/vs/code/electron-main/main.ts, the table that of src/vs/base/parts/storage/node/storage.ts.
package copilotchat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/vscode"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

const format = "copilot-chat"

// Detect recognizes a chat by the members of the object, also in the first entry of a journal.
func Detect(head []byte) bool {
	kind, journal, requests, own, prompt, answer := false, false, false, false, false, false
	jsondoc.Scan(head, func(p []string, value json.Token) bool {
		if kind && len(p) > 0 && p[0] == "v" {
			p, journal = p[1:], true
		}
		switch {
		case jsondoc.Match(p, "kind"):
			kind = value == json.Number("0")
		case jsondoc.Match(p, "requests"):
			requests = value == json.Delim('[')
		case jsondoc.Match(p, "responderUsername"), jsondoc.Match(p, "sessionId"), jsondoc.Match(p, "creationDate"):
			own = true
		case jsondoc.Match(p, "requests", "", "message"):
			prompt = true
		case jsondoc.Match(p, "requests", "", "response"), jsondoc.Match(p, "requests", "", "variableData"), jsondoc.Match(p, "requests", "", "requestId"):
			answer = true
		}
		return !(requests && (own || journal) && prompt && answer)
	})
	return requests && (own || journal) && prompt == answer || journal && own
}

func Read(in io.Reader, to transcript.Sink) error {
	b := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, err := b.Peek(jsonl.HeadSize)
	if err != nil && err != io.EOF {
		return err
	}
	if !isJournal(head) {
		return export.List(b, []string{"requests"}, to, func(e *export.Conversation) error {
			c := newChat(e.Around.Record(), e.Torn)
			before := ""
			taken := map[string]bool{}
			for _, item := range e.Items {
				if item.Raw[0] != '{' {
					to.Problem(noRequest)
					continue
				}
				id := idOf(item.Raw, before)
				if taken[id] {
					to.Problem(duplicate(id))
					id = otherID(item.Raw, before)
				}
				before = c.add(request{id: id, parent: before, raw: item.Raw}, true)
				taken[before] = true
			}
			return c.Read(to)
		})
	}
	around, all, live, err := readJournal(b, to)
	if err != nil || around == nil {
		return err
	}
	c := newChat(around, false)
	for _, r := range all {
		c.add(r, false)
	}
	for _, id := range live {
		c.leaf(id)
	}
	if n := len(live); n > 0 {
		// In one save, the state of an answer comes before its last parts.
		last := c.records[live[n-1]]
		c.Open = func(record json.RawMessage) bool { return bytes.Equal(record, last) }
	}
	return c.Read(to)
}

// isJournal reports whether a file begins with the first line of a journal, or with another one.
func isJournal(head []byte) (is bool) {
	jsondoc.Scan(jsonl.TrimBOM(head), func(p []string, value json.Token) bool {
		_, number := value.(json.Number)
		is = is || len(p) == 1 && p[0] == "kind" && number
		return len(p) == 0
	})
	return is
}

// A chat is a conversation of requests.
type chat struct {
	nodes.Tree
	hidden  map[string]bool // the requests that the user went back to before
	records map[string]json.RawMessage
}

func newChat(around json.RawMessage, torn bool) *chat {
	c := &chat{Tree: nodes.Tree{Torn: torn, Messages: messagesOf, Open: isOpen}, hidden: map[string]bool{}, records: map[string]json.RawMessage{}}
	if around != nil {
		v := gjson.ParseBytes(around)
		c.Conversation.Records = []json.RawMessage{around}
		c.Conversation.ID, c.Conversation.Title = v.Get("sessionId").Str, titleOf(v)
		c.Conversation.Created = times.Milliseconds(v.Get("creationDate"))
		c.Conversation.Dir = vscode.Folder([]byte(`{"folder":` + orNull(v.Get("workingDirectory").Raw) + `}`))
	}
	return c
}

func orNull(raw string) string {
	if raw == "" {
		return "null"
	}
	return raw
}

// titleOf returns the title that a user, or in version 2 a model, gave to a chat.
func titleOf(around gjson.Result) string {
	if title := member.String(around.Get("customTitle")); title != "" {
		return title
	}
	return member.String(around.Get("computedTitle"))
}

// add adds a request and returns its id. live reports whether it is in the chat.
func (c *chat) add(r request, live bool) string {
	id := c.Append(nodes.Node{ID: r.id, Parent: r.parent, Record: bytes.Clone(r.raw)})
	c.hidden[id], c.records[id] = isHidden(r.raw), r.raw
	if live {
		c.leaf(id)
	}
	return id
}

// leaf records that the chat continues after a request, unless that is hidden.
func (c *chat) leaf(id string) {
	if !c.hidden[id] {
		c.Conversation.Leaf = id
	}
}
