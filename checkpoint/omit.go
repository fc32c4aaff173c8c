package checkpoint

import (
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// An Omission is a path without some of its messages.
type Omission struct {
	Shared  int      // the number of messages before the first that is omitted
	Kept    []int    // the nodes of the remaining messages after them
	Omitted []Picked // the omitted messages, in order; Call is the tool call because of which a message is omitted that was not chosen, "" for a chosen one
}

// Omit leaves messages out of the path to node at of t. A message that makes a tool call is left
// out together with the results of the call, and a result together with its call.
func Omit(t *session.Tree, at int, drop []int) Omission {
	path := t.Path(at)
	chosen := members(path, drop)
	bonds, _ := bondsOf(t, path)
	o := Omission{Shared: len(path)}
	for i, call := range tie(bonds, chosen, nil) {
		switch n := path[i]; {
		case chosen[i]:
			o.Omitted = append(o.Omitted, Picked{Tree: t, Node: n})
			o.Shared = min(o.Shared, i)
		case call != "":
			o.Omitted = append(o.Omitted, Picked{t, n, call})
			o.Shared = min(o.Shared, i)
		case len(o.Omitted) > 0:
			o.Kept = append(o.Kept, n)
		}
	}
	return o
}

// Flatten returns a snapshot of the shared messages of o, which leaves messages out of a path of
// t, followed by rest. The records of the tool calls that are kept go with it.
func (o Omission) Flatten(t *session.Tree, at int, rest [][]byte, spec Spec, open func(*session.Outline) (*session.Session, error)) (*session.Document, error) {
	end, point := none, ""
	if o.Shared > 0 {
		end = t.Path(at)[o.Shared-1]
		point = t.ID(end)
	}
	shared := t.Runs(end)
	path := shared[:len(shared):len(shared)]
	for _, n := range o.Kept {
		path = append(path, session.Run{Part: t.Parts[t.Part(n)], From: t.Index(n), To: t.Index(n) + 1})
	}
	d, err := snapshot(t, path, partsOf(t, path), point, spec, open)
	if err != nil {
		return nil, err
	}
	d.Messages = shared[:len(shared):len(shared)]
	for _, raw := range rest {
		d.Messages = append(d.Messages, session.Run{Raw: raw})
	}
	d.Metadata.Set("message_count", rawjson.Compact(d.Len()))
	return d, nil
}
