package copilotchat

import (
	"cmp"
	"strconv"
	"unicode/utf16"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A madeRequest is a request that bough makes.
type madeRequest struct {
	ID        string       `json:"requestId"`
	Time      int64        `json:"timestamp"`
	Message   madePrompt   `json:"message"`
	Variables variableData `json:"variableData"`
	Model     string       `json:"modelId,omitempty"`
	Agent     *agent       `json:"agent,omitempty"`
	AnswerID  string       `json:"responseId,omitempty"`
	Response  []any        `json:"response,omitempty"`
	State     *madeState   `json:"modelState,omitempty"`
	Result    *madeResult  `json:"result,omitempty"`
}

type madePrompt struct {
	Text  string       `json:"text"`
	Parts []promptPart `json:"parts"`
}

type promptPart struct {
	Kind  string `json:"kind"`
	Range span   `json:"range"`
	Lines lines  `json:"editorRange"`
	Text  string `json:"text"`
}

type span struct {
	Start int `json:"start"`
	End   int `json:"endExclusive"`
}

type lines struct {
	StartLine   int `json:"startLineNumber"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLineNumber"`
	EndColumn   int `json:"endColumn"`
}

type variableData struct {
	List []variable `json:"variables"`
}

type variable struct {
	Kind  string            `json:"kind"`
	ID    string            `json:"id"`
	Name  string            `json:"name"`
	MIME  string            `json:"mimeType"`
	Value map[string]string `json:"value"`
}

// An agent answers requests; VS Code passes the metadata of a result only to the agent that
// it is of.
type agent struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Full      string    `json:"fullName"`
	Extension extension `json:"extensionId"`
	Publisher string    `json:"extensionPublisherId"`
	Display   string    `json:"extensionDisplayName"`
	Locations []string  `json:"locations"`
	Modes     []string  `json:"modes"`
	Metadata  struct{}  `json:"metadata"`
	Commands  []int     `json:"slashCommands"`
	Others    []int     `json:"disambiguation"`
	Default   bool      `json:"isDefault"`
}

type extension struct {
	Value string `json:"value"`
	Lower string `json:"_lower"`
}

var copilot = agent{
	ID: "github.copilot.editsAgent", Name: "agent", Full: "GitHub Copilot", Extension: extension{"GitHub.copilot-chat", "github.copilot-chat"},
	Publisher: "GitHub", Display: "GitHub Copilot Chat", Locations: []string{"panel"}, Modes: []string{"agent"}, Commands: []int{}, Others: []int{}, Default: true,
}

type madeState struct {
	Value int   `json:"value"`
	At    int64 `json:"completedAt"`
}

type madeResult struct {
	Metadata madeMetadata `json:"metadata"`
}

type madeMetadata struct {
	Rounds  []*madeRound          `json:"toolCallRounds"`
	Results map[string]madeOutput `json:"toolCallResults"`
}

type madeRound struct {
	Response string     `json:"response"`
	Calls    []madeCall `json:"toolCalls"`
	Retry    int        `json:"toolInputRetry"`
	ID       string     `json:"id"`
}

type madeCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	ID        string `json:"id"`
}

type madeOutput struct {
	Content []madeText `json:"content"`
}

type madeText struct {
	Kind int    `json:"$mid"`
	Text string `json:"value"`
}

// textPart marks a text in the result of a tool (MarshalledId in VS Code).
const textPart = 21

type text struct {
	Value string `json:"value"`
}

type thought struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type invocation struct {
	Kind      string    `json:"kind"`
	Doing     text      `json:"invocationMessage"`
	Done      text      `json:"pastTenseMessage"`
	Confirmed confirmed `json:"isConfirmed"`
	Complete  bool      `json:"isComplete"`
	ID        string    `json:"toolCallId"`
	Tool      string    `json:"toolId"`
	Details   *details  `json:"resultDetails,omitempty"`
}

type confirmed struct {
	Type int `json:"type"`
}

type details struct {
	Input  string   `json:"input"`
	Output []output `json:"output"`
	Failed bool     `json:"isError,omitempty"`
}

type output struct {
	Type  string `json:"type"`
	Text  bool   `json:"isText,omitempty"`
	MIME  string `json:"mimeType,omitempty"`
	Value string `json:"value"`
}

// A turn is a request being made.
type turn struct {
	w       *writer
	request madeRequest
	meta    madeMetadata
	called  map[string]*invocation // the calls of the request, by id
	prompts []string
}

// convert returns the request for a turn, given its message in w.grouped.
func (w *writer) convert(group *transcript.Message) []byte {
	list := w.turns[group.ID]
	t := &turn{w: w, called: map[string]*invocation{}, meta: madeMetadata{[]*madeRound{}, map[string]madeOutput{}}}
	t.request.ID, t.request.Variables.List = group.ID, []variable{}
	first := list[0]
	t.request.Time = w.Time(first).UnixMilli()
	for _, m := range list {
		w.Lost.Message(m, report.LostTimes, report.LostModels)
		if m.Role == "assistant" {
			t.answer(m)
			continue
		}
		w.Lost.Count(report.LostModels, m.Model != "")
		t.user(m)
	}
	t.request.Message = promptOf(parts.JoinLines(t.prompts...))
	if t.request.Response == nil && t.request.Message.Text == "" && len(t.request.Variables.List) == 0 {
		return nil
	}
	if t.request.Response != nil {
		last := list[len(list)-1]
		t.request.Agent = &copilot
		t.request.State = &madeState{complete, w.Time(last).UnixMilli()}
		t.request.Result = &madeResult{t.meta}
		for _, m := range list[1:] {
			w.Lost.Count(report.LostTimes, !m.Time.IsZero() && m.Time.UnixMilli() != t.request.State.At)
		}
	}
	raw := rawjson.Compact(t.request)
	t.trace(raw, list)
	return raw
}

// trace notes which messages the request is read as: one for each change of the speaker.
func (t *turn) trace(raw []byte, list []*transcript.Message) {
	said := messagesOf(nodes.Node{ID: t.request.ID, Record: raw})
	at := 0
	for _, m := range said {
		for at < len(list)-1 && list[at].Role != m.Role {
			at++
		}
		for at < len(list)-1 && list[at+1].Role == m.Role {
			at++
		}
		t.w.Lost.Trace.ID(m.ID, t.w.original(list[at]))
		at = min(at+1, len(list)-1)
	}
}

// original returns the message of the transcript that m is, or is a part of.
func (w *writer) original(m *transcript.Message) *transcript.Message {
	if whole := w.whole[m.ID]; whole != nil {
		return whole
	}
	return m
}

func promptOf(said string) madePrompt {
	p := madePrompt{Text: said, Parts: []promptPart{}}
	if said == "" {
		return p
	}
	at := lines{1, 1, 1, 1}
	for _, r := range said {
		if r == '\n' {
			at.EndLine, at.EndColumn = at.EndLine+1, 1
		} else {
			at.EndColumn += utf16.RuneLen(r)
		}
	}
	units := 0
	for _, r := range said {
		units += utf16.RuneLen(r)
	}
	p.Parts = append(p.Parts, promptPart{"text", span{0, units}, at, said})
	return p
}

// user adds a prompt, or results of tools.
func (t *turn) user(m *transcript.Message) {
	var last *invocation
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		mime, data, _ := p.File()
		switch {
		case p.Type == content.TypeToolResult && t.w.pairs[p] && t.called[c.ID] != nil:
			last = t.called[c.ID]
			last.Complete = true
			last.Done = text{"Ran `" + last.Tool + "`"}
			last.Details.Failed = c.Failed
			last.Details.Output = append(last.Details.Output, output{Type: "embed", Text: true, Value: p.Text})
			t.meta.Results[c.ID] = madeOutput{[]madeText{{textPart, p.Text}}}
			t.images(last, p)
		case p.Type == content.TypeImage && data != "" && last != nil:
			last.Details.Output = append(last.Details.Output, output{Type: "embed", MIME: cmp.Or(mime, "image/png"), Value: data})
		case p.Type == content.TypeImage && data != "":
			n := strconv.Itoa(len(t.request.Variables.List) + 1)
			t.request.Variables.List = append(t.request.Variables.List, variable{"image", "image" + n, cmp.Or(p.Filename, "Image "+n), cmp.Or(mime, "image/png"), map[string]string{"$base64": data}})
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			t.prompts = append(t.prompts, p.Text)
		default:
			t.w.Lost.Part(p)
			t.prompts = append(t.prompts, parts.Text(p))
		}
	}
}

// images adds the images in the output of a tool.
func (t *turn) images(to *invocation, p *content.Part) {
	gjson.GetBytes(p.Meta, "content").ForEach(func(_, block gjson.Result) bool {
		source := block.Get("source")
		switch {
		case block.Get("type").Str == "text":
		case block.Get("type").Str == "image" && source.Get("data").Str != "":
			to.Details.Output = append(to.Details.Output, output{Type: "embed", MIME: source.Get("media_type").Str, Value: source.Get("data").Str})
		default:
			t.w.Lost.Add(report.LostExtras)
		}
		return true
	})
}

// answer adds an answer of the model.
func (t *turn) answer(m *transcript.Message) {
	if m.Model != "" && t.request.Model != "" && m.Model != t.request.Model {
		t.w.Lost.Add(report.LostModels)
	}
	t.request.Model = cmp.Or(t.request.Model, m.Model)
	if t.request.Response == nil && t.request.ID != m.ID {
		t.request.AnswerID = m.ID
	}
	round := &madeRound{ID: m.ID, Calls: []madeCall{}}
	var said []string
	flush := func() {
		if s := parts.JoinLines(said...); s != "" {
			t.request.Response = append(t.request.Response, text{s})
			round.Response = parts.JoinLines(round.Response, s)
		}
		said = nil
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			said = append(said, p.Text)
		case p.Type == content.TypeThinking && p.Text != "":
			flush()
			t.w.Lost.Signature(p)
			t.request.Response = append(t.request.Response, thought{"thinking", p.Text})
		case p.Type == content.TypeToolCall && t.w.pairs[p] && t.called[c.ID] == nil:
			flush()
			call := &invocation{
				Kind: "toolInvocationSerialized", Doing: text{"Running `" + c.Name + "`"}, Done: text{"Running `" + c.Name + "`"}, Confirmed: confirmed{1},
				ID: c.ID, Tool: c.Name, Details: &details{Input: c.Arguments, Output: []output{}},
			}
			t.called[c.ID] = call
			t.request.Response = append(t.request.Response, call)
			round.Calls = append(round.Calls, madeCall{c.Name, c.Arguments, c.ID})
		case p.Type == content.TypeThinking:
		default:
			t.w.Lost.Part(p)
			said = append(said, parts.Text(p))
		}
	}
	flush()
	t.meta.Rounds = append(t.meta.Rounds, round)
}
