package thread

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Links are the names of the members with the id of a record and of its predecessor.
type Links struct {
	ID, Parent string

	// ParentOf returns the member of a record that names its parent. If nil, it is
	// Parent.
	ParentOf func(record []byte) string
}

// link returns the predecessor of a record, and the member that names it.
func (l Links) link(record []byte) (member, id string) {
	member = l.Parent
	if l.ParentOf != nil {
		member = l.ParentOf(record)
	}
	return member, gjson.GetBytes(record, member).Str
}

// A Weave writes the records of messages with unique ids and links to written records.
type Weave struct {
	Links
	format string
	read   func(record []byte) bool // whether it has content of a message
	looked map[*byte]bool           // the same, cached

	Written map[string]bool   // the ids of all records that are written
	Main    map[string]string // the id of the record that others follow, by message
	owner   map[string]string // the message of a record
	renamed map[*byte]string  // new ids of records whose own id is that of another record
	called  map[string]string // their own ids
	before  map[string]string // the original predecessor of each record
	riders  map[string]*byte  // the records without content, at their first occurrence
	stray   map[*byte]bool    // records whose content no message has
}

// NewWeave indexes all records of a format in a transcript. says reports whether a record
// has content; part, which may be nil, whether a message has any of it. If not, the record
// is a duplicate id that was read before, and is not written.
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

// call assigns ids to the records of m with content: the id of the message if
// no record has it, else a hash of the content. Other records follow the last
// of them.
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

// says reports whether a record has content of a message.
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

// hung returns the message that a record belongs to, "" for none.
func (w *Weave) hung(id string) string {
	for n := 0; id != "" && n <= len(w.before); n++ {
		if m, ok := w.owner[id]; ok {
			return m
		}
		id = w.before[id]
	}
	return ""
}

// Own returns the records of a message with these changes: records that are written
// elsewhere are dropped, duplicate ids, links that close a cycle and links to unwritten
// records are replaced; the latter become links to parent. in reports whether the
// previous message is written, follows whether a reader takes it for the predecessor
// without a link, if m begins with a root, or with a dangling link.
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
