package store

import (
	"strings"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// A Begun says how the conversation of a sub-agent began.
type Begun struct {
	Conversation string // the id of the conversation that began it, in its program
	Session      string // the first file of the conversation with the call, or of the one that began it; "" if the workspace has neither
	Message      string // the message with the call, "" if unknown
	Call         string // the id of the call, "" if unknown
}

// A begunGroup is the conversations of sub-agents that one conversation began, directly or
// through another of them.
type begunGroup struct {
	parent *index.Entry   // the conversation, nil if the workspace does not have it
	agents []*index.Entry // oldest first
	read   bool           // calls is computed
	calls  map[string]spawn
}

// A spawn is the call that began a conversation.
type spawn struct {
	call string
	in   []string // the sessions whose transcript names the call; the sub-agent is shown below the first
}

// begunBy returns the source of a session that is the conversation of a sub-agent.
func begunBy(e *index.Entry) (index.Source, bool) {
	if e != nil && e.Kind() == session.Root {
		for _, s := range e.Sources {
			if s.BegunBy != "" {
				return s, true
			}
		}
	}
	return index.Source{}, false
}

// group returns the sub-agents of a conversation of another program.
func (v *View) group(format, id string) *begunGroup {
	key := index.Source{Format: format, ID: id}
	if g, ok := v.begun[key]; ok {
		return g
	}
	g := &begunGroup{agents: v.Index.BegunBy(format, id)}
	if list := v.Index.Imported(format, id); len(list) > 0 {
		g.parent = list[0]
	}
	if v.begun == nil {
		v.begun = map[index.Source]*begunGroup{}
	}
	v.begun[key] = g
	return g
}

// callsOf returns the calls that began the sub-agents of g, by the ids of their conversations.
// If a file cannot be read, its calls are missing.
func (v *View) callsOf(g *begunGroup, format, id string) map[string]spawn {
	if g.read {
		return g.calls
	}
	g.read, g.calls = true, map[string]spawn{}
	read := func(entries []*index.Entry) {
		for _, e := range entries {
			o, err := v.Outline(e.ID)
			if err != nil {
				continue
			}
			gjson.ParseBytes(o.Own("sources")).ForEach(func(_, raw gjson.Result) bool {
				if source, ok := index.SourceOf(raw); !ok || source.Format != format || source.ID != id && source.BegunBy != id {
					return true
				}
				raw.Get("began").ForEach(func(agent, call gjson.Result) bool {
					if s := g.calls[agent.Str]; s.call == "" || s.call == call.Str {
						g.calls[agent.Str] = spawn{call.Str, append(s.in, e.ID)}
					}
					return true
				})
				return true
			})
		}
	}
	read(v.Index.Imported(format, id))
	for _, e := range g.agents {
		if s, _ := begunBy(e); g.calls[s.ID].call == "" && isPart(s) {
			read(g.agents)
			break
		}
	}
	return g.calls
}

// isPart reports whether the source of a sub-agent names the session that it is part of, as those of
// Claude Code do by their ids: another sub-agent of the session may have begun it. Otherwise the
// source names the conversation that began it, of which another sub-agent may have a copy.
func isPart(s index.Source) bool { return strings.HasPrefix(s.ID, s.BegunBy+"/") }

// BegunBy returns how a session began if it is the conversation of a sub-agent, or a part of
// one. A branch of such a conversation is a conversation of the user.
func (v *View) BegunBy(id string) (b Begun, ok bool) {
	first := v.Index.Entry(v.FirstFile(id))
	s, ok := begunBy(first)
	if !ok {
		return b, false
	}
	b.Conversation = s.BegunBy
	g := v.group(s.Format, s.BegunBy)
	if g.parent != nil && g.parent != first {
		b.Session = g.parent.ID
	}
	if at := v.callsOf(g, s.Format, s.BegunBy)[s.ID]; at.call != "" && at.in[0] != first.ID {
		b.Session, b.Call = at.in[0], at.call
		b.Message = v.caller(at.in[0], at.call)
	}
	return b, true
}

// IsBelow reports whether a session is the conversation of a sub-agent, or a part of one, and
// the workspace has the conversation that began it. Sub-agents that began each other are below
// none. It reads no file.
func (v *View) IsBelow(id string) bool {
	passed := map[*index.Entry]bool{}
	for e := v.Index.Entry(v.FirstFile(id)); ; {
		s, ok := begunBy(e)
		if !ok {
			return len(passed) > 0
		}
		if passed[e] {
			return false
		}
		passed[e] = true
		parent := v.group(s.Format, s.BegunBy).parent
		if parent == nil || parent == e {
			return len(passed) > 1
		}
		e = v.Index.Entry(v.FirstFile(parent.ID))
	}
}

// caller returns the first message of a line that makes a call, "" if there is none.
func (v *View) caller(id, call string) string {
	if callers, ok := v.callers[id]; ok {
		return callers[call]
	}
	callers := map[string]string{}
	ids, _ := v.LineIDs(id)
	for _, id := range ids {
		o, err := v.Outline(id)
		if err != nil {
			continue
		}
		for i := range o.Len() {
			calls, _ := o.Tools(i)
			for _, c := range calls {
				if callers[c] == "" {
					callers[c] = o.MessageID(i)
				}
			}
		}
	}
	if v.callers == nil {
		v.callers = map[string]map[string]string{}
	}
	v.callers[id] = callers
	return callers[call]
}

// A SubAgent is the conversation of a sub-agent, below a session.
type SubAgent struct {
	Session string // its first file
	Message string // the message of the session with the call that began it, "" if unknown
	Call    string
}

// SubAgents returns the conversations of sub-agents that began in the line of a session, oldest
// first. A branch has those of the calls that it copied.
func (v *View) SubAgents(id string) (list []SubAgent) {
	first := v.Index.Entry(v.FirstFile(id))
	if first == nil || first.Kind() == session.Checkpoint {
		return nil
	}
	seen := map[string]bool{first.ID: true}
	below := func(format, conversation string) {
		g := v.group(format, conversation)
		if len(g.agents) == 0 {
			return
		}
		calls := v.callsOf(g, format, conversation)
		for _, e := range g.agents {
			s, _ := begunBy(e)
			at := calls[s.ID]
			a := SubAgent{Session: e.ID}
			switch {
			case seen[e.ID]:
				continue
			case at.call == "":
				if g.parent != first {
					continue
				}
			default:
				_, isAgent := begunBy(first) // it may begin with messages of the conversation that began it
				a.Message = v.caller(first.ID, at.call)
				if at.in[0] != first.ID && (isAgent || a.Message == "") {
					continue
				}
				a.Call = at.call
			}
			seen[e.ID] = true
			list = append(list, a)
		}
	}
	for _, s := range first.Sources {
		below(s.Format, s.ID)
		if s.BegunBy != "" {
			below(s.Format, s.BegunBy)
		}
	}
	return list
}
