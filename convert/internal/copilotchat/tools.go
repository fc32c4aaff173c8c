package copilotchat

import (
	"cmp"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/tidwall/gjson"
)

// Rounds are the requests to the model for one answer, as the extension keeps them beside the
// parts for the user: with the calls and results as the model has them.
type rounds struct {
	list    []gjson.Result
	results gjson.Result // by the ids of calls
	calls   map[string]gjson.Result
	of      map[string]int // the rounds of calls, by id
}

// roundsOf returns the rounds in the metadata of a result.
func roundsOf(metadata gjson.Result) rounds {
	r := rounds{list: metadata.Get("toolCallRounds").Array(), results: metadata.Get("toolCallResults"), calls: map[string]gjson.Result{}, of: map[string]int{}}
	for i, round := range r.list {
		round.Get("toolCalls").ForEach(func(_, c gjson.Result) bool {
			id := c.Get("id").Str
			r.calls[id], r.of[id] = c, i
			return true
		})
	}
	return r
}

// covers reports whether all calls of the rounds are in the parts of a response. Older
// versions gave them other ids there.
func (r rounds) covers(response gjson.Result) bool {
	shown := 0
	response.ForEach(func(_, p gjson.Result) bool {
		if _, is := r.calls[p.Get("toolCallId").Str]; is {
			shown++
		}
		return true
	})
	return shown >= len(r.calls)
}

// rounds adds an answer as the model gave it.
func (s *speech) rounds(r rounds) {
	for i, round := range r.list {
		thinking := round.Get("thinking.text")
		text := member.String(thinking)
		for _, line := range thinking.Array() {
			if thinking.IsArray() {
				text += member.String(line)
			}
		}
		if s.settle(); text != "" {
			s.add("assistant", content.Thinking(text, ""))
		}
		s.say(member.String(round.Get("response")))
		round.Get("toolCalls").ForEach(func(_, c gjson.Result) bool {
			s.called(c.Get("id").Str, member.String(c.Get("name")), member.String(c.Get("arguments")), i)
			if result, ok := r.result(c.Get("id").Str); ok {
				s.results = append(s.results, result.parts(content.Call{ID: c.Get("id").Str, Name: member.String(c.Get("name"))})...)
			}
			return true
		})
	}
}

// called adds a call. The results of calls of one round follow all of them.
func (s *speech) called(id, name, arguments string, round int) {
	if round < 0 || round != s.round {
		s.settle()
	}
	s.round = round
	s.add("assistant", content.ToolCall(content.Call{ID: id, Name: name, Arguments: cmp.Or(arguments, "{}")}))
}

// call adds the call of a part and its result.
func (s *speech) call(p gjson.Result, r rounds) {
	id, round := p.Get("toolCallId").Str, -1
	data, details := p.Get("toolSpecificData"), p.Get("resultDetails")
	c := content.Call{ID: id, Name: member.String(p.Get("toolId"))}
	arguments := member.String(details.Get("input"))
	switch {
	case arguments != "":
	case data.Get("rawInput").Exists():
		arguments = member.Compact(data.Get("rawInput").Raw)
	case commandOf(data).Exists():
		arguments = `{"command":` + commandOf(data).Raw + `}`
	}
	if own, is := r.calls[id]; is {
		round = r.of[id]
		c.Name, arguments = cmp.Or(member.String(own.Get("name")), c.Name), cmp.Or(member.String(own.Get("arguments")), arguments)
	}
	s.called(id, c.Name, arguments, round)
	if s.open || p.Get("isComplete").Type == gjson.False {
		return
	}
	confirmed := p.Get("isConfirmed")
	c.Failed = details.Get("isError").Bool() || confirmed.Type == gjson.False || confirmed.Get("type").Type == gjson.Number && confirmed.Get("type").Num == 0
	result, ok := r.result(id)
	if shown := detailsOf(details); !ok {
		result = shown
	} else if result.images == nil {
		result.images = shown.images
	}
	if result.text == "" && result.images == nil {
		result.text = cmp.Or(member.String(data.Get("terminalCommandOutput.text")), markdown(p.Get("pastTenseMessage")), markdown(p.Get("invocationMessage")))
	}
	s.results = append(s.results, result.parts(c)...)
}

// commandOf returns the command of a call that runs one in the terminal.
func commandOf(data gjson.Result) gjson.Result {
	line := data.Get("commandLine")
	for _, name := range []string{"userEdited", "toolEdited", "original"} {
		if v := line.Get(name); v.Type == gjson.String {
			return v
		}
	}
	return data.Get("command")
}

// A result is the output of a tool.
type result struct {
	text   string
	images []content.Part
}

func (r result) parts(c content.Call) []content.Part {
	return append([]content.Part{content.ToolResult(c, r.text)}, r.images...)
}

// result returns the output that the model got for a call, and false if it is not in the
// metadata.
func (r rounds) result(id string) (out result, ok bool) {
	var texts []string
	r.results.ForEach(func(name, v gjson.Result) bool {
		if name.String() != id {
			return true
		}
		ok = true
		v.Get("content").ForEach(func(_, p gjson.Result) bool {
			switch value := p.Get("value"); {
			case value.Type == gjson.String:
				texts = append(texts, member.String(value))
			case value.Exists():
				texts = append(texts, textIn(value, 0))
			}
			return true
		})
		return false
	})
	out.text = parts.JoinLines(texts...)
	return out, ok
}

// maxNesting is how deep textIn looks.
const maxNesting = 100

// textIn returns the text of a prompt that is a tree of elements: those of type 2 have a text.
func textIn(v gjson.Result, depth int) string {
	var b strings.Builder
	if v.Get("type").Num == 2 {
		b.WriteString(member.String(v.Get("text")))
	}
	if depth < maxNesting {
		for _, list := range []gjson.Result{v.Get("node.children"), v.Get("children")} {
			list.ForEach(func(_, child gjson.Result) bool {
				b.WriteString(textIn(child, depth+1))
				return true
			})
		}
	}
	return b.String()
}

// detailsOf returns the output of a tool that the user can see: of a tool of MCP its output,
// of others a list of files.
func detailsOf(details gjson.Result) (out result) {
	var texts []string
	switch {
	case details.IsArray():
		for _, at := range details.Array() {
			texts = append(texts, cmp.Or(pathOfURI(at), pathOfURI(at.Get("uri"))))
		}
	case details.Get("output").IsArray():
		for _, p := range details.Get("output").Array() {
			mime, value := p.Get("mimeType").Str, p.Get("value")
			switch {
			case p.Get("type").Str == "ref":
				texts = append(texts, pathOfURI(p.Get("uri")))
			case p.Get("isText").Bool() || mime == "":
				texts = append(texts, member.String(value))
			case strings.HasPrefix(mime, "image/"):
				out.images = append(out.images, content.Image(mime, value.Str))
			}
		}
	case details.Get("output.base64Data").Str != "":
		if mime := details.Get("output.mimeType").Str; strings.HasPrefix(mime, "image/") {
			out.images = append(out.images, content.Image(mime, details.Get("output.base64Data").Str))
		}
	case details.Get("output").Type == gjson.String:
		texts = append(texts, member.String(details.Get("output")))
	}
	out.text = parts.JoinLines(texts...)
	return out
}
