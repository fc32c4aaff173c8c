package page

import (
	"bytes"
	"html/template"
	"mime"
	"net/url"
	"strings"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/treegraph"
	"github.com/bough-dev/bough/internal/treepicture"
)

// A treePage is the picture of the tree of a conversation.
type treePage struct {
	Title   string
	Href    string // of the conversation
	SVG     string // the address of the picture as a file
	Facts   []string
	Notes   []string // conversations that are drawn without their messages
	Picture template.HTML
}

const svgExtension = ".svg"

// showTree shows the picture of the tree that contains a session, as a page or as a file.
func showTree(c *request) (view, error) {
	name, isFile := strings.CutSuffix(c.r.PathValue("session"), svgExtension)
	o := treegraph.Options{ReadOptions: partial()}
	if !isFile {
		o.Links = treegraph.Links{
			Session: func(session string) string { return location{Session: session}.String() },
			Message: messageAddress,
			Checkpoint: func(id string) string {
				return location{Checkpoint: true, Session: id}.String()
			},
		}
	}
	g, err := treegraph.Load(c.r.Context(), c.workspace, name, o)
	if err != nil {
		return view{}, err
	}
	var b bytes.Buffer
	if err := treepicture.Write(&b, g.Nodes, treepicture.Options{Title: g.Title, Inline: !isFile}); err != nil {
		return view{}, err
	}
	if isFile {
		h := c.w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src "+treepicture.StyleSource()+"; sandbox")
		h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": name + svgExtension}))
		return view{Body: b.Bytes(), Type: "image/svg+xml"}, nil
	}
	c.session = name
	t := treePage{Title: clip(g.Title), Href: location{Session: name}.String(), SVG: "/tree/" + url.PathEscape(name+svgExtension)}
	t.Picture = template.HTML(b.String()) // treepicture writes only its own elements
	messages, conversations := 0, 0
	for _, n := range g.Nodes {
		if n.Kind == treepicture.Conversation {
			conversations++
		} else {
			messages++
		}
	}
	t.Facts = []string{count(messages, "message")}
	if conversations > 1 {
		t.Facts = append(t.Facts, plural.Of(conversations, "conversation"))
	}
	for _, err := range g.Unreadable {
		t.Notes = append(t.Notes, err.Error())
	}
	return view{Template: "tree", Title: "Tree of " + t.Title, Data: t}, nil
}
