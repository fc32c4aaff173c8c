package store

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/stored"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// NewSession stages an empty root session and returns its id. If id is "", one
// is generated. own are members of metadata.bough.
func (tx *Tx) NewSession(id, title string, own ...rawjson.Pair) (string, error) {
	return tx.NewSessionIn(tx.View.Index.Dialect(), id, title, own...)
}

// NewSessionIn is NewSession with a dialect.
func (tx *Tx) NewSessionIn(dialect session.Dialect, id, title string, own ...rawjson.Pair) (string, error) {
	if id == "" {
		var err error
		if id, err = tx.View.NewID(); err != nil {
			return "", err
		}
	}
	now := dialect.Time(tx.View.Now(nil))
	d := &session.Document{ID: id, CreatedAt: now, LastActive: now, Metadata: NewMetadata(dialect, title, 0)}
	if len(own) > 0 {
		d.Metadata.Set("bough", rawjson.AppendObject(nil, own, 2))
	}
	return id, tx.Create(d)
}

// NewMetadata returns the metadata of a session that is not a snapshot.
func NewMetadata(dialect session.Dialect, title string, messages int, from ...string) session.Metadata {
	var m session.Metadata
	set := func(key string, value any) { m.Set(key, rawjson.Value(value, 2)) }
	if title != "" {
		set("title", title)
	}
	set("message_count", messages)
	switch {
	case dialect == session.Bough:
		set("continued_from", List(from))
		set("continued_to", []string{})
	case len(from) > 0:
		set("continued_from", from[0])
	}
	return m
}

// CheckUTF8 returns an error if JSON cannot represent s.
func CheckUTF8(what, s string) error {
	if !utf8.ValidString(s) {
		return &fault.Error{Code: fault.Usage, Message: "the " + what + " is not valid UTF-8"}
	}
	return nil
}

// MaxTitle is the maximum number of bytes of a title that a caller gives.
const MaxTitle = 1000

// CheckTitle returns an error if s cannot be a title: one line of text of at most [MaxTitle]
// bytes, or empty. Titles that files have are not checked.
func CheckTitle(what, s string) error {
	wrong := ""
	switch {
	case len(s) > MaxTitle:
		wrong = fmt.Sprintf("the %s has %d bytes; at most %d are allowed", what, len(s), MaxTitle)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		wrong = "the " + what + " must be one line of text, without control characters"
	default:
		return CheckUTF8(what, s)
	}
	return &fault.Error{Code: fault.Usage, Message: wrong}
}

// OwnContinued is a member of metadata.bough: the message was added to its file
// after that was continued.
const OwnContinued = "continued"

// A Message is a message to add.
type Message struct {
	ID, Role string
	Content  []byte // JSON
	Metadata []rawjson.Pair
	Own      []rawjson.Pair // members of metadata.bough
	Raw      []byte         // the stored form, set when it is written
}

// kind returns the kind in the metadata of m.
func (m *Message) kind() turn.Kind {
	if i := slices.IndexFunc(m.Metadata, isKind); i >= 0 {
		return turn.Kind(gjson.ParseBytes(m.Metadata[i].Value).String())
	}
	return turn.KindOf(m.Role)
}

func isKind(p rawjson.Pair) bool { return p.Key == "kind" }

// Encode returns the stored form of m. metadata are additional members of its
// metadata.
func (m *Message) Encode(at string, metadata ...rawjson.Pair) []byte {
	if !slices.ContainsFunc(m.Metadata, isKind) {
		metadata = append(metadata, rawjson.Pair{Key: "kind", Value: rawjson.Compact(m.kind())})
	}
	metadata = append(metadata, m.Metadata...)
	if len(m.Own) > 0 {
		metadata = append(metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendObject(nil, m.Own, 4)})
	}
	m.Raw = stored.Message{ID: m.ID, Role: m.Role, Content: m.Content, Time: at, Metadata: metadata}.Encode()
	return m.Raw
}

// AppendFork creates a branch at p with the message, in one file. The title may
// be empty.
func (tx *Tx) AppendFork(p *Place, m *Message, title string) (string, error) {
	d, err := tx.View.Document(p, checkpoint.Spec{Kind: session.Branch, Title: title})
	if err != nil {
		return "", err
	}
	tx.LogAddition(m, Addition{Parent: session.ID(p.MessageID()), Copy: true})
	d.Messages = append(d.Messages, session.Run{Raw: m.Encode(d.LastActive)})
	d.Metadata.Set("message_count", rawjson.Compact(d.Len()))
	return d.ID, tx.Create(d)
}

// AppendTo adds the message below p, in the file that [Place.destination] selects, or, if
// that is full, in a new continuation of it.
func (tx *Tx) AppendTo(p *Place, m *Message) (string, error) {
	tx.LogAddition(m, Addition{Parent: session.ID(p.MessageID()), Branch: p.branchesAt()})
	part, full := p.destination(tx.View.Store.Opts.Limit)
	s := p.Parts[part]
	at := tx.View.Index.Dialect().Time(tx.View.Now(p.Line))
	if full {
		return tx.Continuation(p, s, p.MessageID(), at, m.Encode(at))
	}
	var metadata []rawjson.Pair
	if p.Node != p.Follows(part) {
		parent := rawjson.Compact(session.ID(p.MessageID()))
		metadata = append(metadata, rawjson.Pair{Key: "parent_id", Value: parent})
	}
	if len(tx.View.Index.Continuations(s.ID)) > 0 {
		m.Own = append(m.Own, rawjson.Pair{Key: OwnContinued, Value: []byte("true")})
	}
	edit := s.Edit()
	edit.SetActive(at)
	edit.SetMeta("message_count", s.Len()+1)
	edit.Append(m.Encode(at, metadata...))
	if err := tx.Replace(edit); err != nil {
		return "", err
	}
	return s.ID, tx.completeLink(p.Line, s)
}

// completeLink adds the link to s in the file that s continues, if it is
// missing: a crash may have occurred between the two writes.
func (tx *Tx) completeLink(l *Line, s *session.Outline) error {
	if s.Meta.Kind() != session.Continuation {
		return nil
	}
	for _, part := range l.Parts {
		if part.ID == s.Meta.Origin() && !slices.Contains(part.Meta.ContinuedTo, s.ID) {
			return tx.SetContinuedTo(part)
		}
	}
	return nil
}

// FilePart returns the index of the file that a message below p belongs to: the file of its
// parent, or the last empty file that continues it.
func (p *Place) FilePart() int {
	part := 0
	if p.Node >= 0 {
		part = p.Part(p.Node)
	}
	for i := range p.Parts {
		if i > part && p.Follows(i) == p.Node && p.Parts[i].Len() == p.Parts[i].Header {
			part = i
		}
	}
	return part
}

// destination returns the index of the file for a message below p: the one that it belongs
// to while that has fewer than limit messages, else the last file of the line. full reports
// that the last file has limit messages too. If the id of the parent is ambiguous, it is
// unique at most in its own file, which then gets the message even if it is full.
func (p *Place) destination(limit int) (part int, full bool) {
	room := func(part int) bool { return p.Parts[part].Len()-p.Parts[part].Header < limit }
	part = p.FilePart()
	if p.Node < 0 || room(part) || len(p.Find(p.MessageID())) > 1 {
		return part, false
	}
	part = len(p.Parts) - 1
	return part, !room(part)
}

// Continuation stages a new file that continues s, a file of the line of p: the line's
// headers, a marker with parent, and messages. It links the file in s.
func (tx *Tx) Continuation(p *Place, s *session.Outline, parent, at string, messages ...[]byte) (string, error) {
	id, err := tx.View.NewID()
	if err != nil {
		return "", err
	}
	d := &session.Document{ID: id, CreatedAt: at, LastActive: at}
	first, err := tx.View.Reopen(p.Parts[0])
	if err != nil {
		return "", err
	}
	for i, header := range first.Messages {
		if c := header.Category(); c != "SYSTEM" && c != "CONTEXT" || header.IsMarker() {
			continue
		}
		copied, err := sessionid.NewMessage(tx.View.Store.Opts.Random)
		if err != nil {
			return "", err
		}
		d.Messages = append(d.Messages, session.Run{Raw: first.Copy(i, copied, at)})
	}
	marker, err := sessionid.NewMessage(tx.View.Store.Opts.Random)
	if err != nil {
		return "", err
	}
	d.Messages = append(d.Messages, session.Run{Raw: stored.Marker(marker, s.ID, parent, at)})
	for _, raw := range messages {
		d.Messages = append(d.Messages, session.Run{Raw: raw})
	}
	d.Metadata = NewMetadata(tx.View.Index.Dialect(), "", len(d.Messages), s.ID)
	if err := tx.Create(d); err != nil {
		return "", err
	}
	return id, tx.SetContinuedTo(s)
}

// SetContinuedTo writes the continuations of s into its file, in the dialect of
// the file.
func (tx *Tx) SetContinuedTo(s *session.Outline) error {
	edit := s.Edit()
	LinkTo(edit, s.Meta.Dialect(), tx.View.Index.Continuations(s.ID))
	return tx.Edit(edit, true)
}

// LinkTo sets the continuations of a session, in the dialect d.
func LinkTo(edit *session.Edit, d session.Dialect, ids []string) {
	switch {
	case d == session.Bough:
		edit.SetMeta("continued_to", List(ids))
	case len(ids) == 0:
		edit.DeleteMeta("continued_to")
	case len(ids) == 1:
		edit.SetMeta("continued_to", ids[0])
	default:
		edit.SetMeta("continued_to", ids)
	}
}
