package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// Encode returns the file of a. Compared to the decoded file, only values that
// changed differ.
func (a *Agent) Encode() []byte {
	if a.raw == nil {
		members := []rawjson.Pair{
			{Key: "id", Value: rawjson.Compact(a.ID)},
			{Key: "name", Value: rawjson.Compact(a.Name)},
			{Key: "model_id", Value: rawjson.Compact(a.Model)},
			{Key: "system", Value: rawjson.Compact(a.System)},
			{Key: "tree_ids", Value: a.treeIDs()},
			{Key: "trees", Value: a.encodeTrees()},
			{Key: "head", Value: a.Head.encode()},
			{Key: "queue", Value: a.encodeQueue()},
			{Key: "turn", Value: a.encodeTurn()},
			{Key: "steer_policy", Value: rawjson.Compact(cmp.Or(a.Policy, turn.AfterCall))},
			{Key: "auto_checkpoint", Value: rawjson.Compact(!a.NoCheckpoint)},
			{Key: "created_at", Value: rawjson.Compact(session.Bough.Time(a.Created))},
		}
		if a.Memory != "" {
			members = append(members, rawjson.Pair{Key: "memory_file", Value: rawjson.Compact(a.Memory)})
		}
		return append(rawjson.AppendObject(nil, members, 0), '\n')
	}
	was, err := Decode(a.Name, a.raw)
	if err != nil {
		panic("agent: " + err.Error()) // it was decoded before
	}
	data := a.raw
	put := func(key string, same bool, value []byte) {
		if !same {
			data = setMember(data, key, value)
		}
	}
	put("id", a.ID == was.ID, rawjson.Compact(a.ID))
	put("model_id", a.Model == was.Model, rawjson.Compact(a.Model))
	put("system", a.System == was.System, rawjson.Compact(a.System))
	put("created_at", a.Created.Equal(was.Created), rawjson.Compact(session.Bough.Time(a.Created)))
	put("tree_ids", slices.EqualFunc(a.Trees, was.Trees, func(t, u Tree) bool { return t.ID == u.ID }), a.treeIDs())
	put("trees", slices.EqualFunc(a.Trees, was.Trees, Tree.same), a.encodeTrees())
	put("queue", slices.Equal(a.Queue, was.Queue), a.encodeQueue())
	put("turn", bytes.Equal(a.encodeTurn(), was.encodeTurn()), a.encodeTurn())
	policy := cmp.Or(a.Policy, turn.AfterCall)
	put("steer_policy", policy == cmp.Or(was.Policy, turn.AfterCall), rawjson.Compact(policy))
	put("memory_file", a.Memory == was.Memory, rawjson.Compact(a.Memory))
	put("auto_checkpoint", a.NoCheckpoint == was.NoCheckpoint, rawjson.Compact(!a.NoCheckpoint))
	if a.Head != was.Head {
		head := valueOf(data, "head")
		head = setMember(head, "tree_id", rawjson.Compact(a.Head.Tree))
		head = setMember(head, "node_id", orNull(a.Head.Node))
		data = setMember(data, "head", head)
	}
	return data
}

func (a *Agent) treeIDs() []byte {
	ids := []string{}
	for _, t := range a.Trees {
		ids = append(ids, t.ID)
	}
	return rawjson.Value(ids, 1)
}

func (a *Agent) encodeTrees() []byte {
	list := []byte("[")
	for i, t := range a.Trees {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(append(list, "\n    "...), t.encode()...)
	}
	return append(list, "\n  ]"...)
}

func (a *Agent) encodeQueue() []byte {
	if len(a.Queue) == 0 {
		return []byte("[]")
	}
	return rawjson.Value(a.Queue, 1)
}

func (a *Agent) encodeTurn() []byte {
	t := a.Turn
	t.State = cmp.Or(t.State, turn.Idle)
	return rawjson.Value(t, 1)
}

func (t Tree) same(u Tree) bool {
	return t.ID == u.ID && t.Name == u.Name && t.Node == u.Node && t.Created.Equal(u.Created) && t.Archived == u.Archived
}

func (t Tree) encode() []byte {
	if t.raw == nil {
		pairs := []rawjson.Pair{
			{Key: "id", Value: rawjson.Compact(t.ID)},
			{Key: "name", Value: orNull(t.Name)},
			{Key: "created_at", Value: rawjson.Compact(session.Bough.Time(t.Created))},
			{Key: "node_id", Value: orNull(t.Node)},
		}
		if t.Archived {
			pairs = append(pairs, rawjson.Pair{Key: "archived", Value: []byte("true")})
		}
		return rawjson.AppendObject(nil, pairs, 2)
	}
	d := decoder{data: t.raw}
	was := d.tree(rawjson.Root(t.raw))
	data := t.raw
	if t.Name != was.Name {
		data = setMember(data, "name", orNull(t.Name))
	}
	if t.Node != was.Node {
		data = setMember(data, "node_id", orNull(t.Node))
	}
	if t.Archived != was.Archived {
		data = setMember(data, "archived", rawjson.Compact(t.Archived))
	}
	return data
}

func (h Head) encode() []byte {
	return rawjson.AppendObject(nil, []rawjson.Pair{
		{Key: "tree_id", Value: rawjson.Compact(h.Tree)},
		{Key: "node_id", Value: orNull(h.Node)},
	}, 1)
}

// orNull returns s as JSON, null for "".
func orNull(s string) []byte {
	if s == "" {
		return []byte("null")
	}
	return rawjson.Compact(s)
}

// setMember replaces the value of a member of object, or adds the member, and keeps
// every other byte. The object must have passed Decode.
func setMember(object []byte, key string, value []byte) []byte {
	root := rawjson.Root(object)
	members, _ := rawjson.Members(object, root)
	if at, ok := rawjson.Find(members, key); ok {
		return slices.Concat(object[:at.Start], value, object[at.End:])
	}
	at := root.Start + 1
	with := slices.Concat(rawjson.Compact(key), []byte(": "), value)
	if n := len(members); n > 0 {
		at = members[n-1].Value.End
		with = append([]byte(", "), with...)
	}
	return slices.Concat(object[:at], with, object[at:])
}

// valueOf returns the value of a member that exists.
func valueOf(object []byte, key string) []byte {
	members, _ := rawjson.Members(object, rawjson.Root(object))
	at, _ := rawjson.Find(members, key)
	return at.Of(object)
}

// Decode decodes the file of the agent with a name. The error is a
// [*session.DamageError].
func Decode(name string, data []byte) (*Agent, error) {
	d := decoder{data: data}
	d.fail(rawjson.Check(data))
	var strict *json.SyntaxError
	if err := json.Unmarshal(data, new(json.RawMessage)); errors.As(err, &strict) {
		d.wrong(int(strict.Offset)-1, "%s", strict) // one of Python's numbers, which agents do not need
	}
	a := &Agent{raw: data}
	if d.err == nil {
		d.agent(name, a)
	}
	if d.err != nil {
		return nil, &session.DamageError{Path: Path(name), Offset: d.err.Offset, Problem: d.err.Problem}
	}
	return a, nil
}

// A decoder decodes an agent's file up to the first error.
type decoder struct {
	data []byte
	err  *rawjson.SyntaxError
}

func (d *decoder) fail(err error) {
	var syntax *rawjson.SyntaxError
	if d.err == nil && errors.As(err, &syntax) {
		d.err = syntax
	}
}

func (d *decoder) wrong(at int, format string, a ...any) {
	d.fail(&rawjson.SyntaxError{Offset: at, Problem: fmt.Sprintf(format, a...)})
}

// An object is a JSON object with its members and its offset.
type object struct {
	*decoder
	at      int
	members []rawjson.Member
}

func (d *decoder) object(s rawjson.Span, what string) object {
	if d.data[s.Start] != '{' {
		d.wrong(s.Start, "%s is not an object", what)
		return object{d, s.Start, nil}
	}
	members, err := rawjson.Members(d.data, s)
	d.fail(err)
	return object{d, s.Start, members}
}

// text returns a member that is a string, or null if that is allowed.
func (o object) text(key string, null bool) string {
	at, ok := rawjson.Find(o.members, key)
	if !ok {
		o.wrong(o.at, "%s is missing", key)
		return ""
	}
	value := at.Of(o.data)
	if null && string(value) == "null" {
		return ""
	}
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		o.wrong(at.Start, "%s is not a string", key)
	}
	return s
}

// flag returns a boolean member, or otherwise if it is absent.
func (o object) flag(key string, otherwise bool) bool {
	at, ok := rawjson.Find(o.members, key)
	if !ok {
		return otherwise
	}
	switch value := string(at.Of(o.data)); value {
	case "true", "false":
		return value == "true"
	}
	o.wrong(at.Start, "%s is neither true nor false", key)
	return otherwise
}

// value decodes an optional member into v and reports whether it exists.
func (o object) value(key string, v any) bool {
	at, ok := rawjson.Find(o.members, key)
	if !ok {
		return false
	}
	if err := json.Unmarshal(at.Of(o.data), v); err != nil {
		o.wrong(at.Start, "%s is invalid: %s", key, err)
	}
	return true
}

func (o object) time(key string) time.Time {
	s := o.text(key, false)
	t, ok := session.ParseTime(s)
	if at, there := rawjson.Find(o.members, key); there && !ok {
		o.wrong(at.Start, "%s is not a time", key)
	}
	return t
}

// where returns the offset of a member, or of the object if the member is absent.
func (o object) where(key string) int {
	if at, ok := rawjson.Find(o.members, key); ok {
		return at.Start
	}
	return o.at
}

// list returns the elements of a member.
func (o object) list(key string) []rawjson.Span {
	at, ok := rawjson.Find(o.members, key)
	if !ok || o.data[at.Start] != '[' {
		o.wrong(o.where(key), "%s is not a list", key)
		return nil
	}
	return rawjson.Elements(o.data, at)
}

func (d *decoder) agent(name string, a *Agent) {
	o := d.object(rawjson.Root(d.data), "the file")
	a.ID, a.Name = o.text("id", false), o.text("name", false)
	a.Model, a.System = o.text("model_id", false), o.text("system", false)
	a.Created = o.time("created_at")
	a.NoCheckpoint = !o.flag("auto_checkpoint", true)
	o.value("memory_file", &a.Memory)
	if o.value("steer_policy", &a.Policy) {
		if _, ok := turn.ParseSteerPolicy(string(a.Policy)); !ok {
			d.wrong(o.where("steer_policy"), "unknown steer_policy %q", a.Policy)
		}
	}
	if o.value("queue", &a.Queue) {
		if err := a.Queue.Check(); err != nil {
			d.wrong(o.where("queue"), "%s", err)
		}
	}
	if o.value("turn", &a.Turn) {
		if err := a.Turn.Check(); err != nil {
			d.wrong(o.where("turn"), "%s", err)
		}
	}
	if !sessionid.IsUUID(a.ID) {
		d.wrong(o.where("id"), "the id %q is not a UUID", a.ID)
	}
	if a.Name != name {
		d.wrong(o.where("name"), "the name %q does not match the file name", a.Name)
	}
	names := map[string]bool{}
	for _, s := range o.list("trees") {
		t := d.tree(s)
		switch {
		case a.Tree(t.ID) != nil:
			d.wrong(s.Start, "duplicate tree %q", t.ID)
		case t.Name != "" && names[t.Name]:
			d.wrong(s.Start, "two trees have the name %q", t.Name)
		}
		names[t.Name] = true
		a.Trees = append(a.Trees, t)
	}
	var ids []string
	for _, s := range o.list("tree_ids") {
		var id string
		if json.Unmarshal(s.Of(d.data), &id) != nil {
			d.wrong(s.Start, "the id of a tree is not a string")
		}
		ids = append(ids, id)
	}
	if !slices.EqualFunc(ids, a.Trees, func(id string, t Tree) bool { return id == t.ID }) {
		d.wrong(o.where("tree_ids"), "tree_ids and trees differ")
	}
	if at, ok := rawjson.Find(o.members, "head"); ok {
		head := d.object(at, "the head")
		a.Head = Head{head.text("tree_id", false), head.text("node_id", true)}
	}
	switch t := a.Tree(a.Head.Tree); {
	case t == nil:
		d.wrong(o.where("head"), "the head is in none of the trees")
	case t.Node != a.Head.Node:
		d.wrong(o.where("head"), "the head differs from the node_id of its tree")
	}
}

func (d *decoder) tree(s rawjson.Span) Tree {
	o := d.object(s, "a tree")
	t := Tree{ID: o.text("id", false), Name: o.text("name", true), Node: o.text("node_id", true), raw: s.Of(d.data)}
	t.Created = o.time("created_at")
	t.Archived = o.flag("archived", false)
	if !sessionid.Valid(t.ID) {
		d.wrong(o.where("id"), "%q is not a valid session id", t.ID)
	}
	return t
}
