package session

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// An Outline describes a session file without the text of its messages. It suffices
// to build the tree of a line, to cut a path, and to copy messages without parsing
// them again. Except for Stat, it depends only on the content of the file.
type Outline struct {
	// ID is the stem of the file name, which identifies the session. The id member
	// in the file may differ and is ignored.
	ID         string
	OwnID      string // the file's id member, "" if it has none
	CreatedAt  string // as in the file, "" if absent
	LastActive string // as in the file, "" if absent
	Meta       Meta
	Header     int    // number of initial messages that repeat messages of the line
	LinkOffset int    // offset of the link to the origin
	CRC32C     uint32 // of the whole file
	FitsSeal   bool   // the file has no seal, or exactly the sealed messages
	Stat       Stat   // of the file, zero if the outline does not come from a file

	size int // of the file in bytes

	opening opening

	brief  int  // number of messages if nothing else is known of them, else 0
	merges bool // of a brief outline: see Merges

	members  []rawjson.Member
	metadata []byte // raw object, or nil
	marks    []mark
	ids      string    // the messages' ids, each followed by the id of its parent if that is named
	tools    []toolUse // of messages that use tools, in order
	ties     []tie     // of messages with metadata.bough.joined or replaced_by, in order
	stamps   []stamp   // of messages whose time is known, in order
	records  [3]array

	data []byte // content of the file if held in memory
}

// A mark holds the span of a message, its id and its edge to its parent.
type mark struct {
	start, end uint32
	id, parent uint32 // offsets in ids of its id and its parent's id
	edge       edge
	late       bool   // added after the file had been continued
	stored     bool   // see Outline.Stored
	tied       bool   // has a tie
	spaced     bool   // it is not the first message, and the separator is before it
	merges     bool   // see Outline.Merges
	hash       uint64 // see Run.Item
}

// A toolUse lists the calls that the message at makes and answers.
type toolUse struct {
	at             uint32
	calls, results []string
}

// A tie holds the members of metadata.bough of the message at that change its place
// in the tree, "" if absent.
type tie struct {
	at       uint32
	joined   string // see OwnJoined
	replaced string // see OwnReplacedBy
}

// A stamp is the timestamp of the message at, as written.
type stamp struct {
	at   uint32
	text string
}

// An array is the span of the elements of a JSON array, without its brackets, and
// their number.
type array struct {
	span  rawjson.Span
	count int
}

// MaxFile is the maximum size of a session file in bytes.
const MaxFile int64 = math.MaxUint32

const tooLarge = "larger than 4 GiB"

// edge is the form of a message's parent_id.
type edge uint8

const (
	follows edge = iota // absent: the message before it is the parent
	begins              // null: it is a root
	named               // the id of its parent
)

// Len returns the number of messages in the file.
func (o *Outline) Len() int { return len(o.marks) + o.brief }

// Brief reports whether only the number of messages is known. That is the case for
// a very long file that was just written, so that writing it needs no memory per
// message.
func (o *Outline) Brief() bool { return o.brief > 0 }

// Merges reports whether a message of the file merged a branch: it has an object as
// metadata.bough.merged.
func (o *Outline) Merges() bool { return o.merges || o.mergesIn(0, len(o.marks)) }

// mergesIn reports whether one of the messages from up to but not including to merged a branch.
func (o *Outline) mergesIn(from, to int) bool {
	return slices.ContainsFunc(o.marks[from:to], func(m mark) bool { return m.merges })
}

// MessageID returns the id of message i.
func (o *Outline) MessageID(i int) string { return o.ids[o.marks[i].id:o.marks[i].parent] }

// Stored reports whether another program stored message i, complete and in the
// format that metadata.bough.format names.
func (o *Outline) Stored(i int) bool { return o.marks[i].stored }

// Offset returns the offset of message i in the file in bytes.
func (o *Outline) Offset(i int) int { return int(o.marks[i].start) }

// parentID returns the parent_id of message i, "" if it names none.
func (o *Outline) parentID(i int) string {
	end := len(o.ids)
	if i+1 < len(o.marks) {
		end = int(o.marks[i+1].id)
	}
	return o.ids[o.marks[i].parent:end]
}

// tieOf returns the tie of message i, or the zero value.
func (o *Outline) tieOf(i int) tie {
	if !o.marks[i].tied {
		return tie{}
	}
	return o.ties[o.tiesBefore(i)]
}

// tiesBefore returns the number of messages before i that have a tie.
func (o *Outline) tiesBefore(i int) int {
	return sort.Search(len(o.ties), func(k int) bool { return int(o.ties[k].at) >= i })
}

// Time returns the time of message i. ok is false if the message has no time or it
// cannot be parsed. The times of the last message and of the leaves of the file are
// known, no others.
func (o *Outline) Time(i int) (time.Time, bool) {
	if n, ok := o.stampOf(i); ok {
		return ParseTime(o.stamps[n].text)
	}
	return time.Time{}, false
}

func (o *Outline) stampOf(i int) (int, bool) {
	n := o.stampsBefore(i)
	return n, n < len(o.stamps) && int(o.stamps[n].at) == i
}

// stampsBefore returns the number of messages before i whose time is known.
func (o *Outline) stampsBefore(i int) int {
	return sort.Search(len(o.stamps), func(k int) bool { return int(o.stamps[k].at) >= i })
}

// Tools returns the ids of the tool calls that message i makes and of those that it
// answers.
func (o *Outline) Tools(i int) (calls, results []string) {
	n := o.toolsBefore(i)
	if n == len(o.tools) || int(o.tools[n].at) != i {
		return nil, nil
	}
	return o.tools[n].calls, o.tools[n].results
}

// toolsBefore returns the number of messages before i that use tools.
func (o *Outline) toolsBefore(i int) int {
	return sort.Search(len(o.tools), func(k int) bool { return int(o.tools[k].at) >= i })
}

// OpenCalls updates open, the set of unanswered tool calls, by the messages from up
// to but not including to.
func (o *Outline) OpenCalls(from, to int, open map[string]bool) {
	n := o.toolsBefore(from)
	for ; n < len(o.tools) && int(o.tools[n].at) < to; n++ {
		for _, call := range o.tools[n].results {
			delete(open, call)
		}
		for _, call := range o.tools[n].calls {
			if !slices.Contains(o.tools[n].results, call) {
				open[call] = true
			}
		}
	}
}

// UsesTools reports whether any message makes or answers a tool call.
func (o *Outline) UsesTools() bool { return len(o.tools) > 0 }

// Frozen returns the number of messages that belong to the session: for a sealed
// checkpoint the sealed messages, without those that another program appended, else
// all.
func (o *Outline) Frozen() int {
	if seal := o.Meta.Sealed; seal != nil && o.Meta.Kind() == Checkpoint {
		return min(max(seal.Messages, 0), o.Len())
	}
	return o.Len()
}

// Unsealed returns o without its seal, so that [Outline.Frozen] includes messages
// that another program appended.
func (o *Outline) Unsealed() *Outline {
	open := *o
	open.Meta.Sealed = nil
	return &open
}

// Own returns the raw member name of metadata.bough of the session, nil if it is
// absent or null.
func (o *Outline) Own(name string) []byte {
	v := gjson.GetBytes(o.metadata, "bough."+name)
	if !v.Exists() || v.Type == gjson.Null {
		return nil
	}
	return []byte(v.Raw)
}

// Metadata returns the session's metadata.
func (o *Outline) Metadata() Metadata {
	if o.metadata == nil {
		return Metadata{}
	}
	return Metadata{rawjson.Pairs(o.metadata, rawjson.Root(o.metadata))}
}

// continues returns the session that o continues, "" if o is not a continuation.
func (o *Outline) continues() string {
	if o.Meta.Snapshot {
		return ""
	}
	return o.Meta.Origin()
}

// span returns the span of the messages from up to but not including to, with the
// bytes between them.
func (o *Outline) span(from, to int) rawjson.Span {
	if from >= to {
		return rawjson.Span{}
	}
	return rawjson.Span{Start: int(o.marks[from].start), End: int(o.marks[to-1].end)}
}

// leaves returns the messages whose time the outline knows: the last one, and those
// that are not the parent of another message of the file.
func (o *Outline) leaves() []int {
	inner := make([]bool, len(o.marks))
	var children []int
	for i, m := range o.marks {
		switch {
		case i < o.Header:
			inner[i] = true // not in the tree
		case m.edge == follows && i > o.Header:
			inner[i-1] = true
		case m.edge == named:
			children = append(children, i)
		}
	}
	if len(children) > 0 {
		ids := newIDTable(len(o.marks))
		for i := range o.marks {
			ids.add(ids.hash(o.MessageID(i)))
		}
		for _, i := range children {
			parent := o.parentID(i)
			for n := ids.last(ids.hash(parent)); n >= 0; n = ids.before(n) {
				inner[n] = inner[n] || o.MessageID(n) == parent
			}
		}
	}
	var leaves []int
	for i := range o.marks {
		if !inner[i] || i == len(o.marks)-1 {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// A Summary holds the properties of a session that the index stores.
type Summary struct {
	ID         string
	CreatedAt  string // as in the file, "" if absent
	LastActive string // as in the file, "" if absent
	Meta       Meta
	Metadata   Metadata
	Messages   int
	Header     int // number of initial messages that repeat messages of the line
	Setting    Setting
	Merges     bool    // see [Outline.Merges]
	Opening    *string // the first words of the first user message, "" if there are none; nil if unknown
}

// Summary returns the summary of the session.
func (o *Outline) Summary() Summary {
	s := Summary{
		ID:         o.ID,
		CreatedAt:  o.CreatedAt,
		LastActive: o.LastActive,
		Meta:       o.Meta,
		Metadata:   o.Metadata(),
		Messages:   o.Len(),
		Header:     o.Header,
		Setting:    o.Setting(),
		Merges:     o.Merges(),
	}
	if !o.opening.lost {
		s.Opening = &o.opening.words
	}
	return s
}
