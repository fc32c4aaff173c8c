package session

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// An Outline is what is known of a session file without the text of its
// messages: enough to tell the tree of a line, to cut a path, and to copy
// messages without parsing them again. It holds nothing that the file does not
// say; what the file system says of the file is its Stat.
type Outline struct {
	// ID is what the session is known by: its file's stem. The file's own id
	// member may say otherwise; nobody asks it.
	ID         string
	OwnID      string // the file's id member, "" if it has none
	CreatedAt  string // as in the file, "" if absent
	LastActive string // as in the file, "" if absent
	Meta       Meta
	Header     int    // how many messages at the start repeat what the line already has
	LinkOffset int    // where the file says what the session comes from, in bytes
	CRC32C     uint32 // of the whole file
	FitsSeal   bool   // there is no seal, or it holds what was sealed and nothing more
	Stat       Stat   // of the file that this is the outline of, zero for one that is no file

	size int  // of the file, in bytes
	ours bool // bough wrote the file itself

	opening opening

	brief int // how many messages there are, where no more is known of them

	remembered bool   // by the cache
	encoded    []byte // for the cache, nil before that
	members    []rawjson.Member
	metadata   []byte // the object as it stands in the file, nil if there is none
	marks      []mark
	ids        string    // the messages' ids, and after each that of its parent if it is named
	tools      []toolUse // of the messages that use tools, in order
	ties       []tie     // of the messages with metadata.bough.joined or replaced_by, in order
	stamps     []stamp   // of the messages whose time is known, in order
	records    [3]array

	data []byte // the file, where it is held in memory
}

// A mark is where a message stands in its file, and what it says of its parent.
type mark struct {
	start, end uint32
	id, parent uint32 // where its id and its parent's begin in ids
	edge       edge
	late       bool // came when the file already had a continuation
	stored     bool // see Outline.Stored
	tied       bool // has a tie
}

// A toolUse is the calls that message at makes and answers.
type toolUse struct {
	at             uint32
	calls, results []string
}

// A tie is what metadata.bough of message at says of its place in the tree; "" is
// nothing.
type tie struct {
	at       uint32
	joined   string // see OwnJoined
	replaced string // see OwnReplacedBy
}

// A stamp is the time of message at, as it is written.
type stamp struct {
	at   uint32
	text string
}

// An array is where the elements of one stand: from the first byte of the first
// to the last of the last.
type array struct {
	span  rawjson.Span
	count int
}

// maxFile is how large a session file may be, in bytes.
const maxFile int64 = math.MaxUint32

const tooLarge = "larger than 4 GiB"

// edge is what a message says of its parent.
type edge uint8

const (
	follows edge = iota // nothing: it follows the message before it
	begins              // null: it is a root
	named               // the id of its parent
)

// Len returns how many messages the file holds.
func (o *Outline) Len() int { return len(o.marks) + o.brief }

// Brief reports whether nothing is known of the messages but how many they are.
// That is so of a very long file that was just written, so that writing it takes
// no memory for what is known of its parts already.
func (o *Outline) Brief() bool { return o.brief > 0 }

// MessageID returns the id of message i.
func (o *Outline) MessageID(i int) string { return o.ids[o.marks[i].id:o.marks[i].parent] }

// Stored reports whether a program stored message i whole and in a format of its
// own, which metadata.bough.format names.
func (o *Outline) Stored(i int) bool { return o.marks[i].stored }

// Offset returns where message i begins in the file, in bytes.
func (o *Outline) Offset(i int) int { return int(o.marks[i].start) }

// parentID returns the id that message i names as its parent, "" for none.
func (o *Outline) parentID(i int) string {
	end := len(o.ids)
	if i+1 < len(o.marks) {
		end = int(o.marks[i+1].id)
	}
	return o.ids[o.marks[i].parent:end]
}

// tieOf returns the tie of message i, the zero one if it has none.
func (o *Outline) tieOf(i int) tie {
	if !o.marks[i].tied {
		return tie{}
	}
	return o.ties[o.tiesBefore(i)]
}

// tiesBefore returns how many messages before i have a tie.
func (o *Outline) tiesBefore(i int) int {
	return sort.Search(len(o.ties), func(k int) bool { return int(o.ties[k].at) >= i })
}

// Time returns when message i was written, and whether the file says so in a way
// that can be read. It is known of the last message and of those that no other
// message of the file has as its parent.
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

// stampsBefore returns of how many messages before i the time is known.
func (o *Outline) stampsBefore(i int) int {
	return sort.Search(len(o.stamps), func(k int) bool { return int(o.stamps[k].at) >= i })
}

// Tools returns the ids of the tool calls that message i makes and of those that
// it answers.
func (o *Outline) Tools(i int) (calls, results []string) {
	n := o.toolsBefore(i)
	if n == len(o.tools) || int(o.tools[n].at) != i {
		return nil, nil
	}
	return o.tools[n].calls, o.tools[n].results
}

// toolsBefore returns how many messages before i use tools.
func (o *Outline) toolsBefore(i int) int {
	return sort.Search(len(o.tools), func(k int) bool { return int(o.tools[k].at) >= i })
}

// OpenCalls goes over messages from to before to with the tool calls that are
// open: those that were made and not answered.
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

// Frozen returns how many messages the session stands for: all of them, but of
// a sealed checkpoint those that were sealed. What another program added to a
// checkpoint is not part of it.
func (o *Outline) Frozen() int {
	if seal := o.Meta.Sealed; seal != nil && o.Meta.Kind() == Checkpoint {
		return min(max(seal.Messages, 0), o.Len())
	}
	return o.Len()
}

// Unsealed returns o as the outline of a session that was never sealed: with
// what another program added to it.
func (o *Outline) Unsealed() *Outline {
	open := *o
	open.Meta.Sealed = nil
	return &open
}

// Own returns a member of the object bough in the session's metadata, as it is in
// the file, nil if it has none.
func (o *Outline) Own(name string) []byte {
	v := gjson.GetBytes(o.metadata, "bough."+name)
	if !v.Exists() || v.Type == gjson.Null {
		return nil
	}
	return []byte(v.Raw)
}

// Metadata returns the members of the session's metadata, values as they are
// in the file.
func (o *Outline) Metadata() []rawjson.Pair {
	if o.metadata == nil {
		return nil
	}
	return rawjson.Pairs(o.metadata, rawjson.Root(o.metadata))
}

// continues returns the session that o continues, "" for one that stands on its
// own.
func (o *Outline) continues() string {
	if o.Meta.Snapshot {
		return ""
	}
	return o.Meta.Origin()
}

// span returns where messages from to before to stand, with all that stands
// between them.
func (o *Outline) span(from, to int) rawjson.Span {
	if from >= to {
		return rawjson.Span{}
	}
	return rawjson.Span{Start: int(o.marks[from].start), End: int(o.marks[to-1].end)}
}

// leaves returns the messages whose time the outline knows: the last one, and
// those that no other message of the file has as its parent.
func (o *Outline) leaves() []int {
	inner := make([]bool, len(o.marks))
	var children []int
	for i, m := range o.marks {
		switch {
		case i < o.Header:
			inner[i] = true // and in no tree
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

// A Summary is what the index keeps of a session.
type Summary struct {
	ID         string
	CreatedAt  string // as in the file, "" if absent
	LastActive string // as in the file, "" if absent
	Meta       Meta
	Metadata   []rawjson.Pair // values as they are in the file
	Messages   int
	Header     int // of those, how many repeat what the line already has
	Setting    Setting
	Opening    *string // the first words of the first message of a user, "" if there are none; nil if that is not known
}

// Summary returns what the index keeps of the session.
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
	}
	if !o.opening.lost {
		s.Opening = &o.opening.words
	}
	return s
}
