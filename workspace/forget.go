package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// ForgetOptions are the choices for forgetting a conversation.
type ForgetOptions struct {
	// Copies also forgets the other conversations with messages of this one.
	Copies bool
	// DryRun reports without changing anything.
	DryRun bool
}

// A ForgetResult lists what was forgotten with a conversation.
type ForgetResult struct {
	Session  string            `json:"session_id"` // the id of the conversation's first file
	Title    string            `json:"title"`
	Sessions []string          `json:"session_ids"` // all deleted files, including copies
	Copies   []ForgottenCopy   `json:"copies"`      // other sessions with messages of the conversation
	Sources  []ForgottenSource `json:"sources"`     // conversations of other programs that imports will skip
	DryRun   bool              `json:"dry_run"`
}

// A ForgottenCopy is a session that shares messages with a forgotten
// conversation.
type ForgottenCopy struct {
	Session   string       `json:"session_id"`
	Kind      session.Kind `json:"kind"`
	Title     string       `json:"title"`
	Messages  int          `json:"message_count"` // the shared ones
	Trashed   bool         `json:"trashed"`       // it is in the trash
	Forgotten bool         `json:"forgotten"`
}

// A ForgottenSource is a conversation of another program.
type ForgottenSource struct {
	Format string `json:"format"`
	ID     string `json:"id,omitempty"`              // its id in the other program
	Last   string `json:"last_message_id,omitempty"` // if it has no id
}

// forgetPath is the file of a forget in progress. While it exists, the next writer
// completes the forget.
const forgetPath = stateDir + "/forget.json"

// A forgetPlan is the content of that file.
type forgetPlan struct {
	Sessions []string          `json:"sessions"`
	Messages []string          `json:"messages"`
	Titles   []string          `json:"titles"`
	Sources  []ForgottenSource `json:"sources"`
	Files    []string          `json:"files"` // attachments to delete unless something else refers to them
}

// Forget permanently deletes a conversation: its files, also in the trash, and
// its text in the log, bookmarks, explorations, learnings, tasks and the
// records of imports and exports. Its id and the ids of its sources are kept,
// so that an import skips it. Forget cannot be undone. name may also be the id
// of a session that only exists in the trash or the log. The tree of an agent
// is refused.
func (w *Workspace) Forget(ctx context.Context, name string, o ForgetOptions) (*ForgetResult, error) {
	return forgetLine(ctx, w.store, name, o)
}

// forgetLine permanently deletes a conversation.
func forgetLine(ctx context.Context, w *base, name string, o ForgetOptions) (*ForgetResult, error) {
	plan := func(v *View) (*ForgetResult, *forgetPlan, error) {
		ids, err := v.forgettable(name)
		if err != nil {
			return nil, nil, err
		}
		return v.planForget(ids, o)
	}
	if o.DryRun {
		return read(ctx, w, func(v *View) (*ForgetResult, error) {
			f, _, err := plan(v)
			return f, err
		})
	}
	op := operation.Operation{Verb: "forget", Auto: true} // undo skips it
	return locked(ctx, w, op, mode{}, func(tx *Tx) (*ForgetResult, error) {
		f, p, err := plan(tx.View)
		if err != nil {
			return f, err
		}
		if err := tx.conclude(tx.keepPlan(f.Session, p)); err != nil {
			return f, err
		}
		return f, completeForget(tx)
	})
}

// keepPlan stages the file of a plan to forget a session.
func (tx *Tx) keepPlan(id string, p *forgetPlan) error {
	data := append(rawjson.Compact(p), '\n')
	info, err := tx.batch.Create(forgetPath, durable.Bytes(data))
	if err != nil {
		return err
	}
	tx.op.Args = args{"session": id}
	tx.op.Sessions = p.Sessions
	tx.changes("", operation.Change{File: forgetPath, Is: stateOfBytes(data, info)})
	return nil
}

// forgettable returns the files of the conversation that name refers to, the
// first file first.
func (v *View) forgettable(name string) ([]string, error) {
	id, err := v.resolve(name)
	switch {
	case err != nil && explanation(err) != nil && explanation(err).Code == fault.NotFound && sessionid.Valid(name):
		if v.knownGone(name) {
			return []string{name}, nil
		}
		return nil, err
	case err != nil && !v.has(id):
		return nil, err
	case v.isPenguin(id):
		return nil, &fault.Error{Code: fault.ReadOnly, Message: id + " is a checkpoint of Penguin, which bough only reads"}
	}
	ids, _ := v.wholeLine(id) // the files that can be read
	if len(ids) == 0 {
		ids = []string{id}
	}
	return ids, nil
}

// knownGone reports whether a session is in the trash, or in the log.
func (v *View) knownGone(id string) bool {
	list, err := v.inTheTrash()
	if err == nil && slices.ContainsFunc(list.Files, func(f TrashedFile) bool { return sessionOf(f.File) == id }) {
		return true
	}
	log, err := operation.Open(v.root)
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

// A sessionText is the known text of a session that may be damaged, or in the
// trash.
type sessionText struct {
	id       string
	trashed  bool
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

func (t *sessionText) meta(path string) gjson.Result { return gjson.GetBytes(t.data, "metadata."+path) }

// sessionTexts calls f for each session, including those in the trash.
func (v *View) sessionTexts(f func(sessionText)) error {
	for _, id := range v.index.IDs() {
		if data, err := readRegular(v.root, session.FileName(id)); err == nil && data != nil {
			f(textOf(id, data, false))
		}
		if err := v.ctx.Err(); err != nil {
			return err
		}
	}
	list, err := v.inTheTrash()
	if err != nil {
		return err
	}
	for _, file := range list.Files {
		if id := sessionOf(file.File); id != "" {
			if data, err := durable.ReadFile(v.root, v.nameOf(file)); err == nil {
				f(textOf(id, data, true))
			}
		}
	}
	return nil
}

// planForget computes how to forget the conversation with the files ids.
func (v *View) planForget(ids []string, o ForgetOptions) (*ForgetResult, *forgetPlan, error) {
	done := &ForgetResult{Session: ids[0], Title: v.overview(ids[0]).title, Copies: []ForgottenCopy{}, Sources: []ForgottenSource{}, DryRun: o.DryRun}
	if err := v.whole(); err != nil {
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
	if err := v.sessionTexts(func(t sessionText) {
		if gone[t.id] {
			collect(t)
		}
	}); err != nil {
		return nil, nil, err
	}
	copies := map[string]bool{}
	err := v.sessionTexts(func(t sessionText) {
		shared := 0
		for _, m := range t.messages {
			if messages[m] {
				shared++
			}
		}
		if shared == 0 || gone[t.id] || copies[t.id] {
			return
		}
		copies[t.id] = true
		c := ForgottenCopy{Session: t.id, Title: t.meta("title").Str, Messages: shared, Trashed: t.trashed, Forgotten: o.Copies}
		if c.Kind = session.Branch; !t.trashed {
			c.Kind = v.kind(t.id)
		}
		done.Copies = append(done.Copies, c)
	})
	if err != nil {
		return nil, nil, err
	}
	if o.Copies {
		for _, c := range done.Copies {
			gone[c.Session] = true
			if c.Trashed || v.index.Entry(c.Session) == nil { // a damaged file may share more
				continue
			}
			line, _ := v.wholeLine(c.Session)
			for _, id := range line {
				gone[id] = true
			}
		}
	}
	done.Sessions = slices.Sorted(maps.Keys(gone))
	for _, cp := range v.penguinIDs() { // bough does not change them
		if p := v.penguin[cp]; gone[p.Session] {
			done.Copies = append(done.Copies, ForgottenCopy{Session: cp, Kind: session.Checkpoint, Title: p.Name})
		}
	}
	if err := v.mayForget(done.Sessions); err != nil {
		return nil, nil, err
	}
	plan, err := v.forgetPlan(done.Sessions)
	if err != nil {
		return nil, nil, err
	}
	done.Sources = plan.Sources
	return done, plan, nil
}

// mayForget returns an error if the conversation is a tree of an agent.
func (v *View) mayForget(ids []string) error {
	for _, id := range ids {
		owner, err := v.owner(id)
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
func (v *View) forgetPlan(ids []string) (*forgetPlan, error) {
	plan := &forgetPlan{Sessions: ids, Messages: []string{}, Titles: []string{}, Sources: []ForgottenSource{}, Files: []string{}}
	ledger, err := readLedger(v.root)
	if err != nil {
		return nil, err
	}
	messages, sums, titles, sources := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[ForgottenSource]bool{}
	err = v.sessionTexts(func(t sessionText) {
		if !slices.Contains(ids, t.id) {
			return
		}
		titles[t.meta("title").Str] = true
		for _, m := range t.messages {
			messages[m.id] = true
		}
		for _, s := range t.meta("bough.sources").Array() {
			source := ForgottenSource{Format: s.Get("format").Str, ID: s.Get("id").Str}
			if row := ledger.said[sourceKey(source.Format, source.ID)]; source.ID != "" && v.isSourceOf(t, row, ids) {
				sources[source] = true
			}
		}
		if s, err := session.Decode(t.id, t.data); err == nil {
			for _, m := range s.Messages {
				for _, sum := range attached(m) {
					sums[sum] = true
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, rows := range []map[string]*convRow{ledger.said, ledger.ends} {
		for _, row := range rows {
			if c := row.Conversation; slices.Contains(ids, c.Session) {
				sources[ForgottenSource{Format: c.Format, ID: c.ID, Last: c.Last}] = true
			}
		}
	}
	exports, err := readRegular(v.root, exportsPath)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(exports)) {
		if r := gjson.Parse(line); slices.Contains(ids, r.Get("session_id").Str) {
			s := ForgottenSource{Format: r.Get("format").Str, ID: r.Get("id").Str}
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
	slices.SortFunc(plan.Sources, func(a, b ForgottenSource) int {
		return cmp.Or(cmp.Compare(a.Format, b.Format), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Last, b.Last))
	})
	return plan, nil
}

// isSourceOf reports whether a source of a session is forgotten with it. It is
// not if it was imported into a remaining conversation, of which the session is
// a copy.
func (v *View) isSourceOf(t sessionText, row *convRow, ids []string) bool {
	if row != nil {
		return slices.Contains(ids, row.Conversation.Session) || !v.has(row.Conversation.Session)
	}
	origin := v.index.Origin(t.id)
	return origin == "" || slices.Contains(ids, origin) || !v.has(origin)
}

// beingForgotten returns the plan of the forget in progress, nil if there is
// none.
func (v *View) beingForgotten() (*forgetPlan, error) {
	data, err := readRegular(v.root, forgetPath)
	if err != nil || data == nil {
		return nil, err
	}
	plan := &forgetPlan{}
	if err := json.Unmarshal(data, plan); err != nil {
		return nil, &session.DamageError{Path: forgetPath, Problem: err.Error()}
	}
	return plan, nil
}

// completeForget executes the stored plan of a forget and removes it. Each step
// can be repeated.
func completeForget(tx *Tx) error {
	plan, err := tx.View.beingForgotten()
	if err != nil || plan == nil {
		return err
	}
	e := newErasure(plan.Sessions, plan.Messages, plan.Titles)
	steps := []func() error{
		func() error { return tx.keepSourcesOut(plan) },
		func() error { return tx.erase(e) },
		func() error { return tx.eraseAgents(e) },
		func() error { return tx.removeForgotten(plan, e) },
		func() error {
			return tx.rewriteLines(exportsPath, func(line []byte) []byte {
				if e.sessions[gjson.GetBytes(line, "session_id").Str] {
					return nil
				}
				return line
			})
		},
		func() error { return removeThere(tx.View.root, handoverDir) },
		func() error { return removeThere(tx.View.root, session.CacheDir) },
		func() error {
			sums := map[string]bool{}
			for _, sum := range plan.Files {
				sums[sum] = true
			}
			_, err := tx.purgeAttachments(sums)
			return err
		},
		func() error { // the operation takes effect although its file is deleted
			_, err := durable.Append(tx.View.root, operation.Path, []byte("\n"))
			return err
		},
		func() error { return durable.Remove(tx.View.root, forgetPath) },
	}
	for _, step := range steps {
		if err := cmp.Or(tx.View.ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// removeThere deletes a folder, which need not exist.
func removeThere(root *os.Root, dir string) error {
	if _, err := root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return durable.RemoveAll(root, dir)
}

// keepSourcesOut records that imports skip the sources of forgotten
// conversations.
func (tx *Tx) keepSourcesOut(plan *forgetPlan) error {
	ledger, err := readLedger(tx.View.root)
	if err != nil {
		return err
	}
	var lines []byte
	for _, s := range plan.Sources {
		was := ledger.ends[s.Last]
		if s.ID != "" {
			was = ledger.said[sourceKey(s.Format, s.ID)]
		}
		if was != nil && was.Conversation.Out {
			continue
		}
		row := &convRow{}
		row.Conversation.Format, row.Conversation.ID, row.Conversation.Last = s.Format, s.ID, s.Last
		row.Conversation.Session, row.Conversation.Out = plan.Sessions[0], true
		lines = append(append(lines, rawjson.Compact(row)...), '\n')
	}
	if len(lines) == 0 {
		return nil
	}
	_, err = durable.Append(tx.View.root, importsPath, lines)
	return err
}

// removeForgotten deletes the files of sessions, also in the trash, other
// references to them in the trash, and a head in one of them, and rebuilds the
// index.
func (tx *Tx) removeForgotten(plan *forgetPlan, e *erasure) error {
	var names []string
	for _, id := range plan.Sessions {
		names = append(names, session.FileName(id), session.FileName(id)+backupSuffix)
	}
	if h, ok := tx.View.head(); ok && e.sessions[h.Session] {
		names = append(names, headFile)
	}
	list, err := tx.View.inTheTrash()
	if err != nil {
		return err
	}
	for _, f := range list.Files {
		id := sessionOf(strings.TrimSuffix(f.File, backupSuffix))
		if e.sessions[id] || id == "" && tx.View.mentions(tx.View.nameOf(f), plan.Sessions) {
			names = append(names, tx.View.nameOf(f))
		}
	}
	err = tx.View.index.Change(func() error {
		for _, name := range names {
			if !tx.View.isThere(name) {
				continue
			}
			if err := durable.Remove(tx.View.root, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range plan.Sessions {
		tx.forget(id)
	}
	tx.View.index.Rewrite()
	return tx.View.index.Save()
}

// mentions reports whether the content of a file has the id of one of the
// sessions.
func (v *View) mentions(file string, ids []string) bool {
	data, err := durable.ReadFile(v.root, file)
	return err == nil && slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(string(data), id) })
}
