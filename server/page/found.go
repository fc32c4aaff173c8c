package page

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/tidwall/gjson"
)

// A pathQuery selects a part of a conversation.
type pathQuery struct {
	Session string
	Leaf    string // the end of the path; "" means the newest leaf, or the one below At
	At      string // a message that is loaded, "" for none
	From    int    // index of the first message to load; negative means the last ones
	To      int    // index after the last one; 0 means a chunk after From
}

// A found is a path that was read.
type found struct {
	*placement
	tree   *workspace.MessageTree
	shown  *workspace.Conversation
	leaf   string
	first  map[string]int          // the index of the first message with an id
	files  map[string][]files.Mark // by message
	marked int                     // the index of the first message with a state, or the number of messages
	notes  []string
	now    time.Time
}

// anchor returns the anchor of a message of the path. Two files may have different messages
// with the same id.
func (f *found) anchor(i int) string {
	id := f.shown.Messages[i].ID
	if f.first[id] == i {
		return id
	}
	return id + "~" + strconv.Itoa(i)
}

// find reads the path that q selects.
func find(ctx context.Context, w *workspace.Workspace, q pathQuery, now time.Time) (*found, error) {
	f := &found{now: now}
	w = w.Observed(nil, func(note string) {
		if !slices.Contains(f.notes, note) {
			f.notes = append(f.notes, note)
		}
	})
	o := partial()
	tree, err := w.MessageTree(ctx, q.Session, o)
	if err != nil {
		return nil, err
	}
	f.tree, f.placement = tree, place(tree)
	leaf := q.Leaf
	if leaf == "" && q.At != "" {
		to, err := w.Show(ctx, refOf(tree.Session, q.At), o)
		if err != nil {
			return nil, err
		}
		leaf = f.tip(idsOf(to.Messages))
	}
	ref := q.Session // of one of the files of a line, the end of that
	if leaf != "" {
		ref = refOf(tree.Session, leaf)
	}
	if f.shown, err = w.Show(ctx, ref, o); err != nil {
		return nil, err
	}
	f.first = map[string]int{}
	for i, m := range f.shown.Messages {
		if _, known := f.first[m.ID]; !known {
			f.first[m.ID] = i
		}
	}
	if n := len(f.shown.Messages); n > 0 {
		f.leaf = f.shown.Messages[n-1].ID
	}
	marks, err := w.FileMarks(ctx, f.shown)
	if err != nil {
		f.notes = append(f.notes, "The states of files cannot be read: "+workspace.Explain(err).Message)
	}
	f.files, f.marked = map[string][]files.Mark{}, len(f.shown.Messages)
	for _, m := range marks {
		f.files[string(m.Message)] = append(f.files[string(m.Message)], m)
		if i, known := f.first[string(m.Message)]; known {
			f.marked = min(f.marked, i)
		}
	}
	return f, nil
}

func idsOf(messages []session.Message) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

// loaded returns the part of a path that is loaded at first.
func (f *found) loaded(q pathQuery) span {
	total := len(f.shown.Messages)
	from := q.From
	if q.At != "" && from < 0 {
		from = slices.IndexFunc(f.shown.Messages, func(m session.Message) bool { return m.ID == q.At })
		from -= from % chunkSize
		if from < 0 || from >= total-chunkSize {
			from = -1
		}
	}
	if from < 0 || from >= total {
		return span{max(0, total-chunkSize), total}
	}
	to := min(total, from+chunkSize)
	if q.To > from {
		to = min(total, q.To)
	}
	return span{from, to}
}

// chunks returns the chunks of the path. Those in s are loaded, and so are the last
// messages.
func (f *found) chunks(s span, relations relations) []chunk {
	total := len(f.shown.Messages)
	var spans []span
	for _, c := range chunksOf(total) {
		if c.From < s.From && s.From < c.To {
			spans = append(spans, span{c.From, s.From})
			c.From = s.From
		}
		if c.From < s.To && s.To < c.To {
			spans = append(spans, span{c.From, s.To})
			c.From = s.To
		}
		spans = append(spans, c)
	}
	list := make([]chunk, len(spans))
	for i, c := range spans {
		list[i].span = c
		if c.From >= s.From && c.To <= s.To || c.From >= total-chunkSize {
			list[i].Messages = f.messages(c, relations)
		}
	}
	return list
}

// messages renders the messages of a part of the path.
func (f *found) messages(s span, related relations) []message {
	r := newRenderer(f.session, f.now)
	list := make([]message, 0, s.To-s.From)
	labels, head := f.marks()
	merged := f.merged(related)
	for i := s.From; i < s.To; i++ {
		m := r.show(f.shown.Messages[i])
		if len(f.shown.Messages) > 1 {
			m.Leaf = refOf(f.session, f.leaf)
		}
		m.At, m.Total, m.Anchor = i, len(f.shown.Messages), f.anchor(i)
		m.Fork = f.fork(m.ID)
		m.Joined, m.Orphan = f.shown.Joined[i], f.isOrphan(m.ID)
		if related.agent != "" {
			m.Agent, m.Node = related.agent, f.session+"/"+m.ID
		}
		m.Head = m.ID == head
		m.Labels = labels[m.ID]
		m.Copies = related.copies[m.ID]
		m.Merged = merged[m.ID]
		if i >= f.marked {
			m.Restore = restoreAddress(m.Ref)
		}
		if f.endsTurn(i) {
			m.Turn = turnAddress(m.Ref)
		}
		for _, mark := range f.files[m.ID] {
			if !slices.ContainsFunc(m.Files, func(s folderState) bool { return s.Dir == mark.State.Dir }) {
				m.Files = append(m.Files, newFolderState(&mark.State, f.now))
			}
		}
		if related.origin != nil && m.ID == related.point {
			m.Origin = related.origin
		}
		m.Link = location{related.readOnly, f.session, f.leaf, atUnlessLast(m), 0, m.Anchor}.String()
		m.Compare, m.Merge, m.Explore = compareAddress(m.Ref), mergeAddress(m.Ref, ""), "/explore?"+url.Values{"ref": {m.Ref}}.Encode()
		if spoken.ByPerson(f.shown.Messages[i]) {
			m.Again = againAddress(refOf(f.session, f.leaf), m.ID)
		}
		list = append(list, m)
	}
	return list
}

// merged returns what messages of the path merged, by message.
func (f *found) merged(related relations) map[string][]mergedBranch {
	var list map[string][]mergedBranch
	for _, m := range f.shown.Merges {
		b := mergedBranch{Title: clip(m.Title)}
		if i, ok := f.first[m.Message]; ok {
			n := int(gjson.GetBytes(f.shown.Messages[i].Raw, "metadata.bough.merged.messages").Int())
			b.About = count(n, "message")
		}
		if related.exists(m.Session) {
			b.Href = messageAddress(m.Session, m.From)
		}
		if list == nil {
			list = map[string][]mergedBranch{}
		}
		list[m.Message] = append(list[m.Message], b)
	}
	return list
}

// endsTurn reports whether a message has a state, and its turn has one before: that of the message
// of the user, or of the one before that.
func (f *found) endsTurn(i int) bool {
	marked := func(i int) bool { return i >= 0 && len(f.files[f.shown.Messages[i].ID]) > 0 }
	if !marked(i) || f.shown.Messages[i].Role() == "user" {
		return false
	}
	for u := i - 1; u >= 0; u-- {
		if f.shown.Messages[u].Role() == "user" {
			return marked(u) || marked(u-1)
		}
	}
	return false
}

// atUnlessLast returns the id of a message that the page does not load by itself.
func atUnlessLast(m message) string {
	if m.At >= m.Total-chunkSize {
		return ""
	}
	return m.ID
}

// marks returns the bookmarks of the conversation by message, and the head, "" if it is
// elsewhere.
func (f *found) marks() (labels map[string][]bookmark.Bookmark, head string) {
	labels = map[string][]bookmark.Bookmark{}
	for _, r := range f.runs {
		for _, b := range r.Bookmarks {
			labels[b.Message] = append(labels[b.Message], b)
		}
		head = cmp.Or(head, string(r.Head))
	}
	return labels, head
}

// window returns the address of the path with the messages from an index on.
func (f *found) window(related relations, from int) string {
	// From 0 would mean the last messages.
	l := location{Checkpoint: related.readOnly, Session: f.session, Leaf: f.leaf, From: from}
	if from == 0 {
		l.At = f.shown.Messages[0].ID
	}
	return l.String()
}
