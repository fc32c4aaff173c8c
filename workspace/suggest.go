package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/suggest"
	"github.com/tidwall/gjson"
)

// Suggest returns the forks that are worth comparing or merging, and the explorations of which
// no result was adopted; see package suggest.
//
// A fork is inside a conversation, or between a branch and the conversation that it was copied
// from. The main path of a conversation is the path to its newest message. If a session of the same
// tree merged or picked a message of a branch, only the later messages of the branch count.
// Comparisons are not recorded, so they have no effect.
func (w *Workspace) Suggest(ctx context.Context, o suggest.Options) (*suggest.List, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*suggest.List, error) {
		if err := v.Whole(); err != nil {
			return nil, err
		}
		v.NoteUnusable()
		s := &suggester{View: v, heads: map[string]bool{}, results: map[string]bool{}, families: map[string]*family{}}
		if o.Session != "" {
			id, err := v.Resolve(o.Session)
			if err != nil {
				return nil, err
			}
			s.only = v.FirstFile(id)
		}
		if err := s.agentHeads(); err != nil {
			return nil, err
		}
		if err := s.explorations(); err != nil {
			return nil, err
		}
		if err := s.forks(); err != nil {
			return nil, err
		}
		if err := s.readFamilies(); err != nil {
			return nil, err
		}
		forks, explored := s.facts()
		return suggest.Make(forks, explored, o.Limit), nil
	})
}

// A suggester collects the facts for suggestions.
type suggester struct {
	*store.View
	only     string             // the first file of the only line that is wanted, "" for all
	heads    map[string]bool    // messages at which agents are
	results  map[string]bool    // sessions of branches of explorations, and messages with a result
	families map[string]*family // by root, those with something to suggest
	order    []string           // their roots
}

// A family are the sessions of one root, with what may be suggested in them.
type family struct {
	forks        []*foundFork
	explorations []*foundExploration
	transfers    []transfer     // between its sessions
	tips         map[string]tip // by id, of the forks
}

// A foundFork is a fork with the paths after its base.
type foundFork struct {
	suggest.Fork
	branch, main []step
}

// A step is a message of a path.
type step struct {
	id    string
	plain bool // it calls no tool, and is no result of a call
}

type foundExploration struct {
	suggest.Exploration
	marks map[string]bool // ids of its results, and of the messages of its branches
}

// A transfer says that the message to has the content of the message from: it merged what ends
// there, or is a copy of it.
type transfer struct{ from, to string }

// A tip is what a message at the end of a branch says.
type tip struct {
	words    string
	answered bool
}

// wants reports whether one of the lines is wanted; they are named by their first files.
func (s *suggester) wants(lines ...string) bool {
	return s.only == "" || slices.Contains(lines, s.only)
}

func (s *suggester) agentHeads() error {
	return s.EachAgent(func(_ string, a *agents.Agent, err error) error {
		if err == nil && a.Head.Node != "" {
			s.heads[a.Head.Node] = true
		}
		return nil // doctor reports a damaged agent
	})
}

// rootOf returns the first session of the lineage of id, which need not exist any more.
func (s *suggester) rootOf(id string) string {
	if lineage, err := s.LineageOf(id); err == nil && len(lineage) > 0 {
		return lineage[0]
	}
	return id
}

// familyOf returns the family of a session.
func (s *suggester) familyOf(id string) *family {
	root := s.rootOf(id)
	f := s.families[root]
	if f == nil {
		f = &family{tips: map[string]tip{}}
		s.families[root] = f
		s.order = append(s.order, root)
	}
	return f
}

// explorations collects the explorations that have ended.
func (s *suggester) explorations() error {
	ids, err := s.Store.Explorations(s.Ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		data, err := durable.ReadFile(s.Root, store.ExplorationsDir+"/"+id+".json")
		if err != nil || !json.Valid(data) {
			continue // removed meanwhile, or damaged, which doctor reports
		}
		e := gjson.ParseBytes(data)
		in, at := e.Get("session_id").Str, e.Get("parent_node_id").Str
		found := &foundExploration{marks: map[string]bool{}, Exploration: suggest.Exploration{
			ID: id, Place: suggest.Place{Session: in, Message: session.ID(at)}, Question: e.Get("question").Str,
			Settled: e.Get("adopted_node_id").Str != "",
		}}
		found.Time, _ = session.ParseTime(e.Get("created_at").Str)
		for _, node := range []string{"outcome_node_id", "adopted_node_id"} {
			s.result(found, e.Get(node).Str)
		}
		for _, b := range e.Get("branches").Array() {
			s.result(found, b.Get("branch_id").Str)
			if branch := b.Get("session_id").Str; branch != in {
				s.result(found, branch)
				s.marksOf(found, branch)
			}
			if b.Get("status").Str == "completed" && !b.Get("pruned").Bool() {
				found.Results++
			}
		}
		if entry := s.Index.Entry(in); entry != nil && e.Get("ended_at").Str != "" && s.wants(s.FirstFile(in)) {
			found.Title = s.Title(entry)
			f := s.familyOf(in)
			f.explorations = append(f.explorations, found)
		}
	}
	return nil
}

// result notes that id belongs to the exploration e.
func (s *suggester) result(e *foundExploration, id string) {
	if id != "" {
		s.results[id], e.marks[id] = true, true
	}
}

// marksOf adds the last message of a branch to the marks of its exploration.
func (s *suggester) marksOf(e *foundExploration, branch string) {
	if s.Index.Entry(branch) == nil {
		return
	}
	if l, err := s.Line(branch, false); err == nil && l.Newest(0) >= 0 {
		e.marks[l.ID(l.Newest(0))] = true
	}
}

// readFamilies reads the sessions of the families, one after the other: their transfers, and the
// messages at the ends of their forks.
func (s *suggester) readFamilies() error {
	for _, root := range s.order {
		for _, fork := range s.families[root].forks {
			s.families[root].tips[string(fork.Tip.Message)] = tip{}
		}
	}
	for _, e := range s.Index.Entries() {
		f := s.families[s.rootOf(e.ID)]
		if f == nil || e.Kind() == session.Checkpoint {
			continue
		}
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		o, err := s.Outline(e.ID)
		if err != nil {
			return err
		}
		content := s.Opened[e.ID]
		if content == nil { // not kept, because a family can be large
			if content, err = s.Folder.Open(o); err != nil {
				return err
			}
		}
		for _, m := range content.Messages {
			if _, ok := f.tips[m.ID]; ok {
				f.tips[m.ID] = tip{spoken.Words(m), isAnswer(m)}
			}
			f.transfers = append(f.transfers, transfersOf(m)...)
		}
	}
	return nil
}

// transfersOf returns what the message m merged, and what it is a copy of.
func transfersOf(m session.Message) (list []transfer) {
	for _, own := range []string{merge.Own, store.OwnPicked} {
		if bytes.Contains(m.Raw, []byte(`"`+own+`"`)) {
			if from := gjson.GetBytes(m.Raw, "metadata.bough."+own+".message_id").Str; from != "" {
				list = append(list, transfer{from, m.ID})
			}
		}
	}
	return list
}

// isAnswer reports whether m is a complete answer, as far as the message says.
func isAnswer(m session.Message) bool {
	own := gjson.GetBytes(m.Raw, "metadata.bough")
	return m.Role() == "assistant" && m.FirstWords() != "" && !own.Get(session.OwnOpen).Bool() && !own.Get("partial").Bool()
}

// facts returns the forks and explorations with what the messages of their families say.
func (s *suggester) facts() (forks []suggest.Fork, explored []suggest.Exploration) {
	labelled := map[string]bool{}
	for _, b := range s.BookmarksIfAny().Bookmarks {
		labelled[b.Message] = true
	}
	for _, root := range s.order {
		f := s.families[root]
		for _, fork := range f.forks {
			end := f.tips[string(fork.Tip.Message)]
			fork.Text, fork.Answered = end.words, end.answered && fork.branch[len(fork.branch)-1].plain
			fork.afterTransfers(f.transfers)
			forks = append(forks, fork.Fork)
		}
		for _, e := range f.explorations {
			for id := range e.marks {
				e.Settled = e.Settled || labelled[id]
			}
			for _, t := range f.transfers {
				e.Settled = e.Settled || e.marks[t.from]
			}
			explored = append(explored, e.Exploration)
		}
	}
	return forks, explored
}

// afterTransfers lets the length of f begin after the last message of the branch whose content
// was brought to another path, or that brought content of the other path.
func (f *foundFork) afterTransfers(list []transfer) {
	branch, main := positions(f.branch), positions(f.main)
	last := -1
	for _, t := range list {
		from, ofBranch := branch[t.from]
		to, inBranch := branch[t.to]
		_, ofMain := main[t.from]
		switch {
		case ofBranch && !inBranch:
			last = max(last, from)
		case inBranch && ofMain:
			last = max(last, to)
		}
	}
	if last >= 0 {
		f.Merged, f.Length = true, plain(f.branch[last+1:])
	}
}

// positions returns the position of each message of a path.
func positions(list []step) map[string]int {
	at := make(map[string]int, len(list))
	for i, s := range list {
		at[s.id] = i
	}
	return at
}
