package thread

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Links are the names of the members of a record that say what it is called, and what
// the record before it is.
type Links struct {
	ID, Parent string

	// ParentOf returns the member of a record that names its parent. If nil, it is
	// Parent.
	ParentOf func(record []byte) string
}

// link returns the record before a record, and the member that says so.
func (l Links) link(record []byte) (member, id string) {
	member = l.Parent
	if l.ParentOf != nil {
		member = l.ParentOf(record)
	}
	return member, gjson.GetBytes(record, member).Str
}

// A Weave writes the records of messages so that each has an id of its own and names one
// that is written.
type Weave struct {
	Links
	format string
	read   func(record []byte) bool // it says what a message says
	looked map[*byte]bool           // the same, of the records that were looked at

	Written map[string]bool   // the ids of all records that are written
	Main    map[string]string // of each message the id of the record that others follow
	owner   map[string]string // the message that a record says
	renamed map[*byte]string  // the ids of records whose own is that of another record
	called  map[string]string // the ids that those have themselves
	before  map[string]string // the record before each, as it stands first
	riders  map[string]*byte  // the records that say nothing, as each stands first
	stray   map[*byte]bool    // records that say what no message says
}

// NewWeave looks at all records of a transcript that are of a format. says reports whether
// a record says something; part, which may be nil, whether a message says any of it. If
// not, the record has the id of another one that was read before, and is not written.
func NewWeave(t *transcript.Transcript, format string, l Links, says func([]byte) bool, part func(*transcript.Message, []byte) bool) *Weave {
	w := &Weave{
		Links: l, format: format, read: says, looked: map[*byte]bool{},
		Written: map[string]bool{}, Main: map[string]string{}, owner: map[string]string{},
		renamed: map[*byte]string{}, called: map[string]string{}, before: map[string]string{}, riders: map[string]*byte{}, stray: map[*byte]bool{},
	}
	if t.Format == format {
		for _, r := range t.Records {
			w.take(r)
		}
	}
	for _, m := range t.Messages {
		if !w.Has(m) {
			continue
		}
		for _, r := range m.Records {
			id := gjson.GetBytes(r, w.Links.ID).Str
			other, taken := w.owner[id]
			switch {
			case id == "" || !w.says(r):
			case taken && other == m.ID, id != m.ID && part != nil && !part(m, r):
				w.looked[&r[0]] = false
				w.stray[&r[0]] = true
			case taken:
				w.renamed[&r[0]] = ""
			default:
				w.owner[id] = m.ID
			}
			w.take(r)
		}
	}
	for _, m := range t.Messages {
		if w.Has(m) {
			w.call(m)
		}
	}
	return w
}

// call gives the records of m that say something ids of their own: that of the message if
// no record has it, else one made of what they say. The others follow the last of them.
func (w *Weave) call(m *transcript.Message) {
	last, said := "", false
	for _, r := range m.Records {
		id := gjson.GetBytes(r, w.Links.ID).Str
		if last = cmp.Or(id, last); !w.says(r) {
			continue
		}
		said = true
		if _, ok := w.renamed[&r[0]]; ok {
			own := id
			for id = m.ID; w.Written[id]; {
				id = transcript.ChainID(id, r)
			}
			w.renamed[&r[0]], w.called[id], w.Written[id], w.owner[id] = id, own, true, m.ID
		}
		if id != "" {
			w.Main[m.ID] = id
		}
	}
	if !said && last != "" { // it was read when such a record was taken for a message
		w.Main[m.ID] = last
	}
}

// says reports whether a record says what a message says.
func (w *Weave) says(record []byte) bool {
	is, known := w.looked[&record[0]]
	if !known {
		is = w.read(record)
		w.looked[&record[0]] = is
	}
	return is
}

// Has reports whether a message has records of the format.
func (w *Weave) Has(m *transcript.Message) bool { return m.Format == w.format && len(m.Records) > 0 }

func (w *Weave) take(record []byte) {
	id := gjson.GetBytes(record, w.Links.ID).Str
	if id != "" {
		w.Written[id] = true
		if _, known := w.before[id]; !known {
			_, w.before[id] = w.link(record)
		}
		if _, known := w.riders[id]; !known && !w.says(record) {
			w.riders[id] = &record[0]
		}
	}
}

// again reports whether a record only rides along and has the id of a record that is
// written elsewhere.
func (w *Weave) again(record []byte, id string) bool {
	if id == "" || w.says(record) {
		return false
	}
	_, said := w.owner[id]
	return said || w.stray[&record[0]] || w.riders[id] != &record[0]
}

// hung returns the message that a record is or hangs on, "" for none.
func (w *Weave) hung(id string) string {
	for n := 0; id != "" && n <= len(w.before); n++ {
		if m, ok := w.owner[id]; ok {
			return m
		}
		id = w.before[id]
	}
	return ""
}

// Own returns the records of a message as they are, but for those that only ride along
// and are written elsewhere, an id that another record has, a link that makes a ring, and
// one to a record that is not written, which becomes a link to parent. in says that the
// message before it is written, follows whether a reader takes that for the one before
// without a link, where m begins with a root, or with a link that names nothing.
func (w *Weave) Own(m *transcript.Message, parent string, in bool, follows func(root bool) bool) []json.RawMessage {
	list := slices.Clone(m.Records)
	relink := func(i int, name, to string) {
		w.before[gjson.GetBytes(list[i], w.Links.ID).Str] = to
		if to == "" {
			list[i] = member.Set(list[i], name, nil)
		} else {
			list[i] = member.Set(list[i], name, to)
		}
	}
	places := map[string]int{}
	here := map[string]string{}    // the ids that records of m have now
	elsewhere := map[string]bool{} // the ids of records of m that are not written here
	first := -1
	for i, r := range m.Records {
		id := gjson.GetBytes(r, w.Links.ID).Str
		if w.again(r, id) {
			elsewhere[id], list[i] = true, nil
			continue
		}
		if id == "" {
			continue
		}
		if name, link := w.link(r); here[link] != "" {
			relink(i, name, here[link])
		}
		if now, ok := w.renamed[&r[0]]; ok {
			list[i] = member.Set(list[i], w.Links.ID, now)
			here[id] = now
		}
		if _, taken := places[id]; !taken {
			places[id] = i
		}
		if first < 0 && w.says(r) {
			first = i
		}
	}
	for i := first; i >= 0; {
		name, link := w.link(m.Records[i])
		if at, ok := places[link]; ok && at < i {
			i = at
			continue
		}
		_, said := w.owner[link]
		switch {
		case m.Parent == "" && (said || elsewhere[link] && w.hung(link) != ""):
			relink(i, name, "")
		case elsewhere[link] && w.hung(link) != m.Parent:
			relink(i, name, cmp.Or(parent, m.Parent))
		case !in || parent == "" || (link == "" || !w.Written[link]) && follows(link == ""):
		case link == "" || !w.Written[link] || w.called[parent] == link:
			relink(i, name, parent)
		}
		break
	}
	return slices.DeleteFunc(list, func(r json.RawMessage) bool { return r == nil })
}
