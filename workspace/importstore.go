package workspace

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// ownSources is the member of metadata.bough of a session that says which conversations
// of other programs it was imported from.
const ownSources = "sources"

// row begins what is said of s.
func (s *spool) row(status ImportStatus) Imported {
	r := Imported{
		Path: s.path, Format: s.format.Name, Messages: len(s.messages), Status: status,
		Title: cmp.Or(s.conv.Title, s.said), Problems: s.problemTexts(),
	}
	r.Branches, r.Orphans = endsOf(s.links())
	return r
}

// mostProblems is how many problems of one conversation are told.
const mostProblems = 20

func (s *spool) problem(p convert.Problem) {
	if s.troubles++; len(s.problems) < mostProblems {
		s.problems = append(s.problems, p)
	}
}

func (s *spool) problemTexts() (texts []string) {
	for _, p := range s.problems {
		text := p.What
		switch {
		case p.Line > 0:
			text = fmt.Sprintf("line %d: %s", p.Line, text)
		case p.Offset > 0:
			text = fmt.Sprintf("offset %d: %s", p.Offset, text)
		}
		texts = append(texts, text)
	}
	if more := s.troubles - len(s.problems); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return texts
}

// one stores a conversation, or says what would come of it where nothing is to change; v
// is nil if there is no workspace. A session that it would be added to and that is
// damaged is what came of it; any other error concerns more than one.
func (i *importer) one(v *view, s *spool) (Imported, error) {
	r, err := i.merged(v, s, i.o.DryRun)
	if err == nil && r == nil {
		r, err = i.created(v, s)
	}
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		failed := s.row(ImportFailed)
		failed.Detail = err.Error()
		return failed, nil
	case err != nil:
		return Imported{}, err
	}
	return *r, nil
}

// created makes a session of a conversation.
func (i *importer) created(v *view, s *spool) (*Imported, error) {
	if f := s.conv.Fork; f != nil && f.Records > 0 {
		s.problem(convert.Problem{What: fmt.Sprintf("it goes on from the conversation %s, which is not here: import that first", f.ID)})
		for n := range s.messages {
			if s.messages[n].parent == "" && s.messages[n].parentAt > 0 {
				s.messages[n].parent = f.ID
			}
		}
	}
	r := s.row(ImportNew)
	r.Added = len(s.messages)
	if i.o.DryRun {
		return &r, nil
	}
	d, err := v.imported(s)
	if err != nil {
		return nil, err
	}
	r.Session = ID(d.ID)
	return &r, v.create(d)
}

// imported decides what the session of a conversation holds.
func (v *view) imported(s *spool) (d *session.Document, err error) {
	dialect := v.index.Dialect()
	d = &session.Document{Messages: s.runs()}
	created := s.conv.Created
	if created.IsZero() {
		created, _ = session.ParseTime(s.first)
	}
	if created.IsZero() {
		created = v.opts.Now()
	}
	d.CreatedAt = dialect.Time(created)
	d.LastActive = cmp.Or(s.last, d.CreatedAt)
	title := cmp.Or(s.conv.Title, s.said)
	if of := s.conv.Session; of != nil {
		d.Records = of.Records()
		d.CreatedAt, d.LastActive = cmp.Or(of.CreatedAt, d.CreatedAt), cmp.Or(of.LastActive, d.LastActive)
		title = s.conv.Title
		if id := s.conv.ID; session.ValidID(id) && v.index.Entry(id) == nil && v.index.Err(id) == nil {
			d.ID = id
		}
	}
	if d.ID == "" {
		if d.ID, err = v.newIDAt(created); err != nil {
			return nil, err
		}
	}
	if of := s.conv.Session; of != nil {
		d.Metadata = checkpoint.Carried([]*session.Outline{of.Outline})
	}
	d.Metadata = append(d.Metadata, newMetadata(dialect, title, len(s.messages))...)
	own := []rawjson.Pair{{Key: ownSources, Value: rawjson.AppendObjects(nil, [][]rawjson.Pair{s.source()}, 3)}}
	if of := s.conv.Session; of != nil {
		for _, key := range []string{"user", "configs", "untracked"} {
			if value := of.Own(key); value != nil {
				own = append(own, rawjson.Pair{Key: key, Value: value})
			}
		}
	}
	d.Metadata = append(d.Metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendObject(nil, own, 2)})
	return d, nil
}

// source says of which conversation s is.
func (s *spool) source() []rawjson.Pair {
	pairs := []rawjson.Pair{{Key: "format", Value: rawjson.Compact(s.format.Name)}}
	for _, m := range []struct{ key, value string }{
		{"id", s.conv.ID}, {"path", s.path}, {"title", s.conv.Title}, {"directory", s.conv.Dir},
		{"version", s.conv.Version}, {"model", s.conv.Model}, {"leaf", s.conv.Leaf},
	} {
		if m.value != "" {
			pairs = append(pairs, rawjson.Pair{Key: m.key, Value: rawjson.Compact(m.value)})
		}
	}
	if len(s.conv.Records) > 0 {
		pairs = append(pairs, rawjson.Pair{Key: "records", Value: convert.Records(s.conv.Records)})
	}
	return pairs
}

// merged adds what is new of a conversation to the session that has some of it already.
// With dry it only says so. It returns nil if none has.
func (i *importer) merged(v *view, s *spool, dry bool) (*Imported, error) {
	for _, n := range i.known.candidates(s) {
		id := i.known.sessions[n]
		if id == "" {
			if r := i.planned(s); r != nil {
				return r, nil
			}
			continue
		}
		if v.index.Entry(id) == nil || v.kind(id) != session.Root {
			continue // it is gone meanwhile
		}
		o, err := v.outline(id)
		if err != nil {
			return nil, err
		}
		m := &merging{i: i, v: v, s: s, dry: dry, there: o}
		same, err := m.same()
		if err != nil {
			return nil, err
		}
		if same {
			return m.row()
		}
	}
	return nil, nil
}

// planned says what would come of a conversation that shares messages with one that this
// dry run would have stored.
func (i *importer) planned(s *spool) *Imported {
	added, same := 0, false
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
	r := s.row(ImportUpdated)
	if r.Added = added; added == 0 {
		r.Status = ImportUnchanged
	}
	return &r
}
