package export

import (
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/transcript"
)

// List reads one conversation: an array of messages, or an object with the array in one of
// the members names. Of an array, Around has no members.
func List(in io.Reader, names []string, to transcript.Sink, f func(*Conversation) error) error {
	var c Conversation
	inside := "" // the member with the messages
	err := jsondoc.Walk(in, func(path []string) bool {
		return len(path) == 0 || len(path) == 1 && slices.Contains(names, path[0])
	}, func(v jsondoc.Visit) error {
		switch n := len(v.Path); {
		case n == 0:
		case n == 2:
			inside = v.Path[0]
			c.Items = append(c.Items, Item{Raw: v.Raw})
		case v.Path[0] == "":
			c.Items = append(c.Items, Item{Raw: v.Raw})
		case v.Raw == nil:
			c.Around.Add(v.Path[0], []byte("[]"))
		default:
			c.Around.Add(v.Path[0], v.Raw)
		}
		return nil
	})
	if what := jsondoc.Damage(err); what != "" && len(c.Items) > 0 {
		to.Problem(transcript.Problem{What: what})
		if c.Torn = true; inside != "" {
			c.Around.Add(inside, []byte("[]"))
		}
		err = nil
	}
	if err != nil || len(c.Items) == 0 {
		return err
	}
	return f(&c)
}
