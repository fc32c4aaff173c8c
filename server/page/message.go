package page

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/tidwall/gjson"
)

// A message is a message of a conversation as the page shows it.
type message struct {
	ID      string
	Anchor  string // "m-" and this is the id of its element
	Ref     string // for forms
	At      int    // index on the path
	Total   int    // messages of the path
	Class   string
	Who     string
	Tags    []string // the kind, the model and other remarks
	Time    moment
	Body    template.HTML
	Fork    *fork
	Joined  bool   // see [session.Tree.Joined]
	Orphan  bool   // its parent is missing
	Agent   string // the agent that owns the conversation, "" for none
	Node    string // the message, for forms of the agent
	Head    bool
	Labels  []bookmark.Bookmark
	Files   []folderState  // the states that belong to it
	Restore string         // the address of the plan to restore files, "" if no state is there or before
	Turn    string         // the address of what its turn changed until it, "" if there are no states
	Merged  []mergedBranch // what it merged
	Copies  []snapshotLink // the branches and checkpoints that end with it
	Origin  *snapshotLink  // of the last copied message of a snapshot: what it was copied from
	Leaf    string         // the end of the shown path, for forms, "" if it cannot be without this message
	Words   string         // the text of a message of the user, to be edited, "" of any other
	Link    string
	Compare string
	Merge   string // the address of the plan to merge the path to it
	Again   string // the address of the form that says the messages from this one on again, "" for none
	Explore string // the address of the form that explores strategies from here
}

// Position is the number of the message on its path, from 1.
func (m *message) Position() int { return m.At + 1 }

// A mergedBranch is a branch that a message merged. Href leads to its end.
type mergedBranch struct{ Title, About, Href string }

// A snapshotLink leads to a branch or a checkpoint, or back to what it was copied from.
type snapshotLink struct {
	Kind  session.Kind
	Title string
	Href  string
}

// Icon is the icon of the kind.
func (l snapshotLink) Icon() string {
	if l.Kind == session.Checkpoint {
		return "checkpoint"
	}
	return "branch"
}

// linkTo returns the link to a session.
func linkTo(e workspace.Entry) snapshotLink {
	return snapshotLink{e.Kind, clip(e.Title), location{Checkpoint: e.Kind == session.Checkpoint, Session: e.ID}.String()}
}

// A renderer renders messages of a line.
type renderer struct {
	html.Renderer
	session string
	now     time.Time
	message string // the message that is being rendered
	images  int    // images of it so far
}

// maxEdited is the size of a text in bytes that the menu of its message offers to edit.
const maxEdited = 64 << 10

// newRenderer returns a renderer for messages of a line. The addresses of their images are
// those of [image] and [file].
func newRenderer(session string, now time.Time) *renderer {
	r := &renderer{session: session, now: now}
	r.Image = func(string) string {
		q := url.Values{"session": {r.session}, "message": {r.message}, "n": {strconv.Itoa(r.images)}}
		r.images++
		return "/image?" + q.Encode()
	}
	r.File = func(a *content.Asset) string {
		if a.SHA256 == "" {
			return ""
		}
		return "/file/" + url.PathEscape(a.SHA256)
	}
	return r
}

// show returns the content of a stored message.
func (r *renderer) show(stored session.Message) message {
	t := transcript.FromSession(stored, "")
	m := html.MessageOf(t)
	class, who := m.Speaker()
	r.message, r.images = stored.ID, 0
	shown := message{
		ID: stored.ID, Ref: refOf(r.session, stored.ID), Class: class, Who: who, Time: momentOf(t.Time, r.now),
		Body: template.HTML(r.Body(&m)), // the renderer writes only its own elements
	}
	if text := spoken.Text(stored.Raw); spoken.ByPerson(stored) && len(text) <= maxEdited {
		shown.Words = text
	}
	metadata := gjson.GetBytes(stored.Raw, "metadata")
	own := metadata.Get("bough")
	for _, tag := range []string{
		m.Kind, m.Model, own.Get("model_id").Str, deliveryTag(metadata.Get("delivery_mode").Str),
	} {
		if tag != "" && !slices.Contains(shown.Tags, tag) {
			shown.Tags = append(shown.Tags, clip(tag))
		}
	}
	switch {
	case t.Open:
		shown.Tags = append(shown.Tags, "incomplete")
	case own.Get("partial").Bool():
		shown.Tags = append(shown.Tags, "interrupted")
	}
	return shown
}

// deliveryTag returns the tag of a message that was sent to a running agent.
func deliveryTag(mode string) string {
	switch turn.DeliveryMode(mode) {
	case turn.Steer:
		return "steer"
	case turn.FollowUp:
		return "follow-up"
	}
	return ""
}
