package eraser

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/trash"
	"github.com/tidwall/gjson"
)

// forgettable returns the files of the conversation that name refers to, the
// first file first.
func forgettable(v *store.View, name string) ([]string, error) {
	id, err := v.Resolve(name)
	switch {
	case store.IsNotFound(err) && sessionid.Valid(name):
		if knownGone(v, name) {
			return []string{name}, nil
		}
		return nil, err
	case err != nil && !v.Has(id):
		return nil, err
	case v.IsPenguin(id):
		return nil, &fault.Error{Code: fault.ReadOnly, Message: id + " is a checkpoint of Penguin, which bough only reads"}
	}
	ids, _ := v.WholeLine(id) // the files that can be read
	if len(ids) == 0 {
		ids = []string{id}
	}
	return ids, nil
}

// knownGone reports whether a session is in the trash, or in the log.
func knownGone(v *store.View, id string) bool {
	list, err := v.InTheTrash()
	if err == nil && slices.ContainsFunc(list.Files, func(f trash.File) bool { return store.SessionOf(f.File) == id }) {
		return true
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return false
	}
	defer log.Close()
	for line, err := range log.Newest() {
		if err == nil && slices.Contains(line.Sessions, id) {
			return true
		}
	}
	return false
}

// planForget computes how to forget the conversation with the files ids.
func planForget(v *store.View, ids []string, o forget.Options) (*forget.Result, *store.ForgetPlan, error) {
	done := &forget.Result{Session: ids[0], Title: v.Overview(ids[0]).Title, Copies: []forget.Copy{}, Sources: []forget.Source{}, DryRun: o.DryRun}
	if err := v.Whole(); err != nil {
		return nil, nil, err
	}
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	messages := map[textMessage]bool{}
	collect := func(t sessionText) {
		for _, m := range t.messages {
			messages[m] = true
		}
	}
	if err := sessionTexts(v, func(t sessionText) {
		if gone[t.id] {
			collect(t)
		}
	}); err != nil {
		return nil, nil, err
	}
	copies := map[string]bool{}
	err := sessionTexts(v, func(t sessionText) {
		shared := 0
		for _, m := range t.messages {
			if messages[m] {
				shared++
			}
		}
		if shared == 0 && !t.mayShare(gone) || gone[t.id] || copies[t.id] {
			return
		}
		copies[t.id] = true
		c := forget.Copy{Session: t.id, Title: t.meta("title").Str, Messages: shared, Trashed: t.trashed, Forgotten: o.Copies}
		if c.Kind = session.Branch; !t.trashed {
			c.Kind = v.Kind(t.id)
		}
		done.Copies = append(done.Copies, c)
	})
	if err != nil {
		return nil, nil, err
	}
	if o.Copies {
		for _, c := range done.Copies {
			gone[c.Session] = true
			if c.Trashed || v.Index.Entry(c.Session) == nil { // a damaged file may share more
				continue
			}
			line, _ := v.WholeLine(c.Session)
			for _, id := range line {
				gone[id] = true
			}
		}
	}
	done.Sessions = slices.Sorted(maps.Keys(gone))
	for _, cp := range v.PenguinIDs() { // bough does not change them
		if p := v.Penguin[cp]; gone[p.Session] {
			done.Copies = append(done.Copies, forget.Copy{Session: cp, Kind: session.Checkpoint, Title: p.Name})
		}
	}
	if err := mayForget(v, done.Sessions); err != nil {
		return nil, nil, err
	}
	plan, err := forgetPlan(v, done.Sessions)
	if err != nil {
		return nil, nil, err
	}
	done.Sources = plan.Sources
	return done, plan, nil
}

// mayForget returns an error if the conversation is a tree of an agent.
func mayForget(v *store.View, ids []string) error {
	for _, id := range ids {
		owner, err := v.Owner(id)
		if err != nil {
			return err
		}
		if owner != nil {
			return &fault.Error{
				Code:    fault.Refused,
				Message: fmt.Sprintf("%s is a tree of the agent %s", id, owner.Name),
				Next:    fault.Do(fault.DeleteTreeFirst, owner.Name, id),
			}
		}
	}
	return nil
}

// forgetPlan collects the facts about sessions that are needed after their
// files are deleted.
func forgetPlan(v *store.View, ids []string) (*store.ForgetPlan, error) {
	plan := &store.ForgetPlan{Sessions: ids, Messages: []string{}, Titles: []string{}, Sources: []forget.Source{}, Files: []string{}}
	ledger, err := importer.ReadLedger(v.Root)
	if err != nil {
		return nil, err
	}
	messages, sums, titles, sources := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[forget.Source]bool{}
	err = sessionTexts(v, func(t sessionText) {
		if !slices.Contains(ids, t.id) {
			return
		}
		titles[t.meta("title").Str] = true
		for _, m := range t.messages {
			messages[m.id] = true
		}
		for _, s := range t.meta("bough.sources").Array() {
			source := forget.Source{Format: s.Get("format").Str, ID: s.Get("id").Str}
			if row := ledger.Said[importer.SourceKey(source.Format, source.ID)]; source.ID != "" && isSourceOf(v, t, row, ids) {
				sources[source] = true
			}
		}
		addAttached(sums, t.id, t.data)
	})
	if err != nil {
		return nil, err
	}
	for _, rows := range []map[string]*importer.ConvRow{ledger.Said, ledger.Ends} {
		for _, row := range rows {
			if c := row.Conversation; slices.Contains(ids, c.Session) {
				sources[forget.Source{Format: c.Format, ID: c.ID, Last: c.Last}] = true
			}
		}
	}
	exports, err := store.ReadRegular(v.Root, store.ExportsPath)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(exports)) {
		if r := gjson.Parse(line); slices.Contains(ids, r.Get("session_id").Str) {
			s := forget.Source{Format: r.Get("format").Str, ID: r.Get("id").Str}
			if list := r.Get("messages").Array(); s.ID == "" && len(list) > 0 {
				s.Last = list[len(list)-1].Get("0").Str
			}
			if s.ID != "" || s.Last != "" {
				sources[s] = true
			}
		}
	}
	plan.Messages = append(plan.Messages, slices.Sorted(maps.Keys(messages))...)
	plan.Titles = append(plan.Titles, slices.Sorted(maps.Keys(titles))...)
	plan.Files = append(plan.Files, slices.Sorted(maps.Keys(sums))...)
	plan.Sources = slices.AppendSeq(plan.Sources, maps.Keys(sources))
	slices.SortFunc(plan.Sources, func(a, b forget.Source) int {
		return cmp.Or(cmp.Compare(a.Format, b.Format), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Last, b.Last))
	})
	return plan, nil
}

// isSourceOf reports whether a source of a session is forgotten with it. It is
// not if it was imported into a remaining conversation, of which the session is
// a copy.
func isSourceOf(v *store.View, t sessionText, row *importer.ConvRow, ids []string) bool {
	if row != nil {
		return slices.Contains(ids, row.Conversation.Session) || !v.Has(row.Conversation.Session)
	}
	origin := v.Index.Origin(t.id)
	return origin == "" || slices.Contains(ids, origin) || !v.Has(origin)
}

// A sessionText is the known text of a session that may be damaged, or in the
// trash.
type sessionText struct {
	id       string
	trashed  bool
	partial  bool // it is packed, and not all of it can be read
	data     []byte
	messages []textMessage
}

// A textMessage is a message of a session. It has the content, because two
// programs may use the same id for different messages.
type textMessage struct{ id, content string }

func textOf(id string, data []byte, trashed bool) sessionText {
	t := sessionText{id: id, data: data, trashed: trashed}
	gjson.GetBytes(data, "messages").ForEach(func(_, m gjson.Result) bool {
		role := m.Get("role").Str
		if id := m.Get("id").Str; id != "" && role != "system" && m.Get("metadata.type").Str != "session_transition" {
			t.messages = append(t.messages, textMessage{id, m.Get("content|@ugly").Raw})
		}
		return true
	})
	return t
}

// textIn returns the text of a session whose file, in the trash or not, has the content data.
func textIn(v *store.View, file, id string, data []byte, trashed bool) sessionText {
	text, whole := v.TextOf(file, data)
	t := textOf(id, text, trashed)
	t.partial = !whole
	return t
}

// mayShare reports whether t was made from one of the sessions, and its messages are not all
// known.
func (t *sessionText) mayShare(ids map[string]bool) bool {
	if !t.partial {
		return false
	}
	from := append(t.meta("lineage").Array(), t.meta("branched_from"))
	return slices.ContainsFunc(from, func(id gjson.Result) bool { return ids[id.Str] })
}

func (t *sessionText) meta(path string) gjson.Result { return gjson.GetBytes(t.data, "metadata."+path) }

// sessionTexts calls f for each session, including those in the trash.
func sessionTexts(v *store.View, f func(sessionText)) error {
	for _, id := range v.Index.IDs() {
		for _, name := range []string{session.FileName(id), sessions.RecipeFile(id)} { // a file hides a recipe
			if data, err := store.ReadRegular(v.Root, name); err == nil && data != nil {
				f(textIn(v, name, id, data, false))
			}
		}
		if err := v.Ctx.Err(); err != nil {
			return err
		}
	}
	list, err := v.InTheTrash()
	if err != nil {
		return err
	}
	for _, file := range list.Files {
		if id := store.SessionOf(file.File); id != "" {
			if data, err := durable.ReadFile(v.Root, v.NameOf(file)); err == nil {
				f(textIn(v, file.File, id, data, true))
			}
		}
	}
	return nil
}
