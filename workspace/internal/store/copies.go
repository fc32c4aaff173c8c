package store

import (
	"bytes"
	"slices"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// OwnPicked is the member of metadata.bough of a copied message that says which message it is a
// copy of, a [turn.Origin].
const OwnPicked = "picked"

// A Copy is a message to add that is a copy of another one, or, without an Origin, new.
type Copy struct {
	turn.Origin
	ID      string // of the copy
	Raw     []byte // the stored form of the original, with another text if that is edited
	Own     []rawjson.Pair
	Written []byte // the stored form of the copy, set when it is written
}

// NewCopies sets the ids of copies.
func (tx *Tx) NewCopies(list []Copy) error {
	for i := range list {
		id, err := sessionid.NewMessage(tx.View.Store.Opts.Random)
		if err != nil {
			return err
		}
		list[i].ID = id
	}
	return nil
}

// structural are the members of metadata.bough of a message that depend on its place.
var structural = []string{session.OwnJoined, session.OwnOpen, session.OwnReplacedBy, OwnContinued}

// encode sets the stored form of a copy below a message, "" for none. Its parent is stored if
// named is set or if the original stores one. late reports that its file has continuations.
func (c *Copy) encode(parent string, named, late bool) (err error) {
	raw := bytes.Clone(c.Raw)
	for _, at := range []string{"metadata", "metadata.bough"} {
		if v := gjson.GetBytes(raw, at); v.Exists() && v.Type != gjson.Null && !v.IsObject() {
			return &fault.Error{Code: fault.Refused, Message: "the message " + c.Message + " cannot be copied: its " + at + " is not an object"}
		}
	}
	set := func(path string, value []byte) {
		if err == nil {
			raw, err = sjson.SetRawBytes(raw, path, value)
		}
	}
	set("id", rawjson.Compact(c.ID))
	if named || gjson.GetBytes(raw, "metadata.parent_id").Exists() {
		set("metadata.parent_id", rawjson.Compact(session.ID(parent)))
	}
	for _, name := range structural {
		if at := "metadata.bough." + name; err == nil && gjson.GetBytes(raw, at).Exists() {
			raw, err = sjson.DeleteBytes(raw, at)
		}
	}
	if from := "metadata.bough." + OwnPicked; c.Message != "" && gjson.GetBytes(raw, from+".message_id").Type != gjson.String {
		set(from, rawjson.Compact(c.Origin))
	}
	for _, own := range c.Own {
		set("metadata.bough."+own.Key, own.Value)
	}
	if late {
		set("metadata.bough."+OwnContinued, []byte("true"))
	}
	c.Written = raw
	return err
}

// EncodeBelow returns the stored forms of copies that follow each other in a file, and sets them.
// parent is the message before the first one in the file, "" for none.
func EncodeBelow(parent string, list []Copy) ([][]byte, error) {
	if err := encodeAll(parent, list, false, false); err != nil {
		return nil, err
	}
	all := make([][]byte, len(list))
	for i, c := range list {
		all[i] = c.Written
	}
	return all, nil
}

func encodeAll(parent string, list []Copy, named, late bool) error {
	for i := range list {
		if err := list[i].encode(parent, named && i == 0, late); err != nil {
			return err
		}
		parent = list[i].ID
	}
	return nil
}

// AppendCopies adds copies below p, each below the one before it, in the file that
// [Place.destination] selects: all in one file, which may then have more messages than its limit.
func (tx *Tx) AppendCopies(p *Place, list []Copy) (string, error) {
	part, full := p.destination(tx.View.Store.Opts.Limit)
	s := p.Parts[part]
	at := tx.View.Index.Dialect().Time(tx.View.Now(p.Line))
	if full {
		raws, err := EncodeBelow(p.MessageID(), list)
		if err != nil {
			return "", err
		}
		id, err := tx.Continuation(p, s, p.MessageID(), at, raws...)
		if err == nil {
			tx.logCopies(id, p, list)
		}
		return id, err
	}
	late := len(tx.View.Index.Continuations(s.ID)) > 0
	if err := encodeAll(p.MessageID(), list, p.Node != p.Follows(part), late); err != nil {
		return "", err
	}
	edit := s.Edit()
	edit.SetActive(at)
	edit.SetMeta("message_count", s.Len()+len(list))
	for _, c := range list {
		edit.Append(c.Written)
	}
	if err := tx.Replace(edit); err != nil {
		return "", err
	}
	tx.logCopies(s.ID, p, list)
	return s.ID, tx.completeLink(p.Line, s)
}

// ForkCopies creates a branch at p with copies, in one file.
func (tx *Tx) ForkCopies(p *Place, list []Copy) (string, error) {
	d, err := tx.View.Document(p, checkpoint.Spec{Kind: session.Branch})
	if err != nil {
		return "", err
	}
	raws, err := EncodeBelow(p.MessageID(), list)
	if err != nil {
		return "", err
	}
	for _, raw := range raws {
		d.Messages = append(d.Messages, session.Run{Raw: raw})
	}
	d.Metadata.Set("message_count", rawjson.Compact(d.Len()))
	if err := tx.Create(d); err != nil {
		return "", err
	}
	tx.logCopies(d.ID, nil, list)
	return d.ID, nil
}

// maxLoggedCopies is how many copies an operation logs for watchers.
const maxLoggedCopies = 100

// logCopies logs copies that were added below p, nil in a new session, for watchers.
func (tx *Tx) logCopies(in string, p *Place, list []Copy) {
	if len(list) > maxLoggedCopies {
		return
	}
	parent, branch := "", false
	if p != nil {
		parent, branch = p.MessageID(), p.branchesAt()
	}
	for i, c := range list {
		tx.LogMessage(in, parent, c.Written, branch && i == 0)
		parent = c.ID
	}
}

// PathThrough returns the path through a node to the newest leaf below it.
func (l *Line) PathThrough(node int) []int {
	if path := l.Path(l.Newest(0)); slices.Contains(path, node) {
		return path
	}
	for _, leaf := range slices.Backward(l.Leaves()) {
		if path := l.Path(leaf); slices.Contains(path, node) {
			return path
		}
	}
	return l.Path(node)
}
