package importer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// OwnSources is the member of metadata.bough with the conversations of other
// programs that a session was imported from.
const OwnSources = "sources"

// result returns a row for s with a status.
func (s *Spool) result(status imports.Status) imports.Transcript {
	r := imports.Transcript{Path: s.path, Format: s.format.Name, Messages: len(s.messages), Status: status, Title: cmp.Or(s.conv.Title, s.Title), Named: s.named}
	r.BegunBy = s.conv.BegunBy
	r.Problems, r.Notes = s.problemTexts()
	r.Branches, r.Orphans = EndsOf(s.links())
	return r
}

// tip returns the id of the message at which the conversation ends, "" if it is empty.
func (s *Spool) tip() string {
	switch n := len(s.messages); {
	case s.conv.Leaf != "":
		return s.conv.Leaf
	case n > 0:
		return s.messages[n-1].id
	}
	return ""
}

// maxProblems is how many problems of one conversation are kept.
const maxProblems = 20

// problem adds a problem, once: several operations may store parts of one
// conversation.
func (s *Spool) problem(p transcript.Problem) {
	if slices.Contains(s.problems, p) {
		return
	}
	if s.troubles++; len(s.problems) < maxProblems {
		s.problems = append(s.problems, p)
	}
}

func (s *Spool) problemTexts() (problems, notes []string) {
	for _, p := range s.problems {
		text := p.What
		switch {
		case p.Line > 0:
			text = fmt.Sprintf("line %d: %s", p.Line, text)
		case p.Offset > 0:
			text = fmt.Sprintf("offset %d: %s", p.Offset, text)
		}
		if p.Note {
			notes = append(notes, text)
		} else {
			problems = append(problems, text)
		}
	}
	if more := s.troubles - len(s.problems); more > 0 {
		problems = append(problems, fmt.Sprintf("and %d more", more))
	}
	return problems, notes
}

// finish adds the row of a conversation that is done.
func (i *importer) finish(s *Spool, r imports.Transcript) {
	if s.row != nil {
		l := LedgerImported{Transcript: r, ID: s.conv.ID, Tip: string(r.Tip)}
		if s.conv.ID == "" && len(s.messages) > 0 {
			l.Last = s.messages[len(s.messages)-1].id
		}
		s.row.File.Rows = append(s.row.File.Rows, l)
		s.row.left--
	}
	if s.tail != nil {
		i.tails.keep(s, r)
	}
	if r.Session != "" {
		i.there[string(r.Session)] = true
		i.ledger.note(s, string(r.Session))
	}
	i.row(r)
	s.drop()
}

// staged are conversations that are committed together, each as an operation.
type staged struct {
	list    []*Spool
	numbers []int32        // of their sessions in [known]
	touched map[int32]bool // sessions that they may change
	size    int64
}

// Limits of the conversations that are committed together.
const (
	maxStaged     = 64
	maxStagedSize = 32 << 20 // bytes
)

// keep stores a conversation, at once or together with later ones.
func (i *importer) keep(s *Spool) error {
	if row := i.unchanged(s); row != nil {
		i.known.stored(s, i.known.session(string(row.Session)), string(row.Session), false)
		i.finish(s, *row)
		return nil
	}
	candidates := i.known.candidates(s)
	if slices.ContainsFunc(candidates, func(n int32) bool { return i.staged.touched[n] }) {
		if err := i.flush(); err != nil {
			return err
		}
		return i.keep(s)
	}
	if i.o.DryRun {
		return i.try(s)
	}
	st := &i.staged
	if st.touched == nil {
		st.touched = map[int32]bool{}
	}
	n := i.known.stage(s)
	st.list, st.numbers = append(st.list, s), append(st.numbers, n)
	st.touched[n] = true
	for _, c := range candidates {
		st.touched[c] = true
	}
	if st.size += s.size; len(st.list) == maxStaged || st.size > maxStagedSize {
		return i.flush()
	}
	return nil
}

// try returns the row that storing a conversation would have, in a dry run.
func (i *importer) try(s *Spool) error {
	prepare := func(v *store.View) (prepared, error) {
		var tx *store.Tx // is not committed
		if v != nil {
			tx = store.NewTx(v)
		}
		return i.prepare(tx, s)
	}
	var p prepared
	var err error
	if store.Is(i.store.Dir) {
		p, err = store.Read(i.ctx, i.store, prepare)
	} else {
		p, err = prepare(nil)
	}
	if err != nil {
		return err
	}
	*s = *p.spool
	i.known.stored(s, i.known.session(string(p.row.Session)), string(p.row.Session), true)
	i.finish(s, p.row)
	return nil
}

// A prepared conversation is staged as an operation.
type prepared struct {
	op    *operation.Operation
	spool *Spool // a copy, changed by the preparation
	row   imports.Transcript
	more  bool // another operation has to follow; see [importer.one]
}

// prepare stages a copy of s.
func (i *importer) prepare(tx *store.Tx, s *Spool) (p prepared, err error) {
	p.spool = s.copy()
	p.row, p.more, err = i.one(tx, p.spool)
	return p, err
}

// flush commits the staged conversations.
func (i *importer) flush() error {
	st := i.staged
	i.staged = staged{}
	if len(st.list) == 0 {
		return nil
	}
	defer func() {
		for _, s := range st.list {
			s.drop() // those that were not committed
		}
	}()
	i.leave()
	stored, err := i.commit(st.list)
	for n, p := range stored {
		s, row := st.list[n], p.row
		if p.more && err == nil {
			err = i.more(s, st.numbers[n], &row)
		}
		i.known.stored(s, st.numbers[n], string(row.Session), false)
		i.finish(s, row)
	}
	if len(stored) > 0 && store.IsChanged(err) { // another program changed a file of a conversation that was not stored
		err = nil
	}
	for _, s := range st.list[len(stored):] {
		if err == nil {
			err = i.keep(s)
		}
	}
	return err
}

// more stores the rest of a conversation that changes several files, with one
// operation for each.
func (i *importer) more(s *Spool, number int32, row *imports.Transcript) error {
	i.known.stored(s, number, string(row.Session), false)
	for {
		stored, err := i.commit([]*Spool{s})
		if err != nil {
			return err
		}
		next := stored[0].row
		row.Added += next.Added
		row.Replaced += next.Replaced
		if !stored[0].more || next.Status != imports.Updated {
			return nil
		}
	}
}

// commit commits one operation for each conversation, and returns the committed
// ones, a prefix of list.
func (i *importer) commit(list []*Spool) (stored []prepared, err error) {
	made, err := store.CreateGroup(i.ctx, i.store, "import", i.group, func(tx *store.Tx) (all []prepared, err error) {
		if tx.Seq != i.seq { // another process wrote meanwhile
			if err := i.known.news(tx.View); err != nil {
				return nil, err
			}
		}
		for _, s := range list {
			op := tx.Begin(i.operation(s))
			p, err := i.prepare(tx, s)
			if err != nil {
				return all, err
			}
			p.op = op
			all = append(all, p)
		}
		return all, nil
	})
	i.group = cmp.Or(made.Group, i.group)
	if err == nil || len(made.Made) > 0 {
		i.seq = made.Seq
	}
	stored = made.Prepared
	if err != nil {
		missing := func(p prepared) bool { return len(made.Made) == 0 || p.op.Seq == 0 && len(p.op.Changes) > 0 }
		if n := slices.IndexFunc(stored, missing); n >= 0 {
			stored = stored[:n]
		}
	}
	for n, p := range stored {
		*list[n] = *p.spool
	}
	return stored, err
}

// operation returns the operation that stores s.
func (i *importer) operation(s *Spool) operation.Operation {
	a := store.Args{"path": s.path, "format": s.format.Name}
	switch {
	case s.conv.ID != "":
		a["source"] = s.conv.ID
	case len(s.messages) > 0:
		a["last"] = s.messages[len(s.messages)-1].id
	}
	return operation.Operation{Verb: "import", Args: a, Auto: i.o.Live}
}

// unchanged returns the row of a conversation that is stored completely, nil if
// something is to be stored. It takes no lock: it uses the workspace as of the
// last operation.
func (i *importer) unchanged(s *Spool) *imports.Transcript {
	if i.o.DryRun || len(i.known.candidates(s)) == 0 {
		return nil
	}
	if i.seen == nil {
		root, err := i.store.Open(i.ctx)
		if err != nil {
			return nil
		}
		if i.seen, err = i.store.LoadTx(i.ctx, root, store.Mode{}); err != nil {
			root.Close()
			return nil
		}
	}
	r, _, err := i.merged(i.seen, s, true)
	if err != nil || r == nil || r.Status != imports.Unchanged {
		return nil
	}
	return r
}

// leave drops the state of the workspace.
func (i *importer) leave() {
	if i.seen != nil {
		i.seen.Finish()
		i.seen.View.Root.Close()
		i.seen = nil
	}
}

// one stages a conversation or a part of it. more reports that another file
// must change afterwards. If nothing changes, it only returns the row; tx is
// nil if there is no workspace then. If the target session is damaged, the row
// has the error; any other error concerns more than one conversation.
func (i *importer) one(tx *store.Tx, s *Spool) (r imports.Transcript, more bool, err error) {
	row, more, err := i.merged(tx, s, i.o.DryRun)
	if err == nil && row == nil {
		row, more, err = i.created(tx, s)
	}
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		failed := s.result(imports.Failed)
		failed.Detail = err.Error()
		return failed, false, nil
	case err != nil:
		return imports.Transcript{}, false, err
	}
	return *row, more, nil
}

// created stages a session for a conversation: one file or, for a live
// transcript, which will grow, the first file up to its limit.
func (i *importer) created(tx *store.Tx, s *Spool) (row *imports.Transcript, more bool, err error) {
	if f := s.conv.Fork; f != nil && f.Records > 0 {
		s.problem(transcript.Problem{Note: true, What: fmt.Sprintf("it continues the conversation %s, which is missing: import that first", f.ID)})
		s.messages = slices.Clone(s.messages)
		for n := range s.messages {
			if s.messages[n].parent == "" && s.messages[n].parentAt > 0 {
				s.messages[n].parent = f.ID
			}
		}
	}
	r := s.result(imports.New)
	r.Added = len(s.messages)
	if i.o.DryRun {
		return &r, false, nil
	}
	if i.o.Live && s.conv.Session == nil && len(s.messages) > i.store.Opts.Limit {
		r.Added, more = i.store.Opts.Limit, true
	}
	d, err := imported(tx.View, s, r.Added)
	if err != nil {
		return nil, false, err
	}
	r.Session, r.Tip = session.ID(d.ID), session.ID(s.tip())
	if err := i.logNew(tx, s, d.ID); err != nil {
		return nil, false, err
	}
	return &r, more, tx.Create(d)
}

// logNew logs for watchers the messages of a live conversation that begins a session.
func (i *importer) logNew(tx *store.Tx, s *Spool, session string) error {
	if !i.o.Live || len(s.messages) > maxLoggedNew {
		return nil
	}
	for n := range s.messages {
		raw, err := s.raw(n)
		if err != nil {
			return err
		}
		tx.LogMessage(session, s.messages[n].parent, raw, false)
	}
	return nil
}

// imported returns the session for a conversation, with its first messages.
func imported(v *store.View, s *Spool, messages int) (d *session.Document, err error) {
	dialect := v.Index.Dialect()
	d = &session.Document{Messages: s.runs()[:messages]}
	created := s.conv.Created
	if created.IsZero() {
		created, _ = session.ParseTime(s.first)
	}
	if created.IsZero() {
		created = v.Store.Opts.Now()
	}
	d.CreatedAt = dialect.Time(created)
	d.LastActive = cmp.Or(s.last, d.CreatedAt)
	title := cmp.Or(s.conv.Title, s.Title)
	if of := s.conv.Session; of != nil {
		d.Records = of.Records()
		d.CreatedAt, d.LastActive = cmp.Or(of.CreatedAt, d.CreatedAt), cmp.Or(of.LastActive, d.LastActive)
		title = s.conv.Title
		if id := s.conv.ID; sessionid.Valid(id) && v.Index.Entry(id) == nil && v.Index.Err(id) == nil {
			d.ID = id
		}
	}
	if d.ID == "" {
		if d.ID, err = v.NewIDAt(created); err != nil {
			return nil, err
		}
	}
	if of := s.conv.Session; of != nil {
		d.Metadata = checkpoint.InheritedMetadata([]*session.Outline{of.Outline})
	}
	d.Metadata.Merge(store.NewMetadata(dialect, title, messages), nil)
	own := []rawjson.Pair{{Key: OwnSources, Value: rawjson.AppendObjects(nil, [][]rawjson.Pair{s.source()}, 3)}}
	if of := s.conv.Session; of != nil {
		for _, key := range []string{"user", "configs", "untracked"} {
			if value := of.Own(key); value != nil {
				own = append(own, rawjson.Pair{Key: key, Value: value})
			}
		}
	}
	d.Metadata.Set("bough", rawjson.AppendObject(nil, own, 2))
	return d, nil
}

// source returns the metadata that identifies the conversation. The member said is
// the title derived from the user's first words.
func (s *Spool) source() []rawjson.Pair {
	pairs := []rawjson.Pair{{Key: "format", Value: rawjson.Compact(s.format.Name)}}
	said, leaf := "", s.conv.Leaf
	if s.conv.Session == nil {
		if s.conv.Title == "" {
			said = s.Title
		}
		if n := len(s.messages); n > 0 && leaf == s.messages[n-1].id {
			leaf = "" // it would be the last message anyway
		}
	}
	for _, m := range []struct{ key, value string }{
		{"id", s.conv.ID}, {"path", s.path}, {"title", s.conv.Title}, {"said", said}, {"directory", s.conv.Dir},
		{"git_branch", s.conv.Branch}, {"version", s.conv.Version}, {"model", s.conv.Model}, {"leaf", leaf}, {"begun_by", s.conv.BegunBy},
	} {
		if m.value != "" {
			pairs = append(pairs, rawjson.Pair{Key: m.key, Value: rawjson.Compact(m.value)})
		}
	}
	if len(s.conv.Began) > 0 {
		pairs = append(pairs, rawjson.Pair{Key: "began", Value: rawjson.Compact(s.conv.Began)})
	}
	if s.conv.ID == "" && s.number > 0 {
		pairs = append(pairs, rawjson.Pair{Key: "number", Value: rawjson.Compact(s.number)})
	}
	if len(s.conv.Records) > 0 {
		pairs = append(pairs, rawjson.Pair{Key: "records", Value: records.Join(s.conv.Records)})
	}
	return pairs
}

// planned returns the row of a conversation that shares messages with one that
// this dry run would have stored.
func (i *importer) planned(s *Spool) *imports.Transcript {
	if s.conv.BegunBy != "" && !i.known.has(s.format, s.conv.ID) {
		return nil
	}
	f, added := s.conv.Fork, 0
	same := f != nil && f.Records > 0 && i.known.has(s.format, f.ID)
	for _, m := range s.messages {
		switch says, ok := i.known.says[i.known.number(m.id)]; {
		case ok && says == m.says:
			same = same || !m.system
		case m.copyOf != "" && i.known.says[i.known.number(m.copyOf)] == m.says:
			same = true
		default:
			added++
		}
	}
	if !same && added > 0 {
		return nil
	}
	r := s.result(imports.Updated)
	if r.Added = added; added == 0 {
		r.Status = imports.Unchanged
	}
	return &r
}
