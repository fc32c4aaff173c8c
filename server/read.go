package server

import (
	"encoding/json"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/lines"
)

// A messageList is the answer of getMessages.
type messageList struct {
	Items []json.RawMessage
	messageRest
}

type messageRest struct {
	IDs    []string             `json:"ids"`
	Metas  []json.RawMessage    `json:"metas"`
	Events []eventItem          `json:"events,omitempty"`
	Next   string               `json:"next_cursor,omitempty"`
	More   bool                 `json:"has_more"`
	Tokens int                  `json:"this_time_tokens"`
	Edited string               `json:"edit_at_message_id,omitempty"`
	URLs   map[string]publicURL `json:"public_urls,omitempty"`
}

// A reading holds the parameters of a request for a path.
type reading struct {
	session, leaf string // names
	format        content.Format
	limit         int
	after         *cursor
	newest        bool
	links, events bool
	strategies    []content.Strategy
	pin           string // the UUID of the last message that the strategies apply to, "" for the last one
}

func (c *call) reading() (*reading, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	q := c.query()
	rd := &reading{
		session: name,
		leaf:    q.message("leaf_id"),
		limit:   q.number("limit", 0, 0, 200),
		after:   q.cursor(),
		newest:  q.truth("time_desc", false),
		links:   q.truth("with_asset_public_url", true),
		events:  q.truth("with_events", false),
		pin:     uuidIn(q.message("pin_editing_strategies_at_message")),
	}
	format, strategies := q.text("format"), q.text("edit_strategies")
	if q.err != nil {
		return nil, q.err
	}
	if rd.format, err = content.ParseFormat(format); err != nil {
		return nil, exchange.Wrong("format is unknown", err)
	}
	if strategies != "" {
		if rd.strategies, err = content.ParseStrategies([]byte(strategies)); err != nil {
			return nil, exchange.Wrong("edit_strategies is invalid", err)
		}
	}
	return rd, nil
}

// getMessages answers the path to a leaf.
func getMessages(c *call) (*answer, error) {
	rd, err := c.reading()
	if err != nil {
		return nil, err
	}
	path, err := c.workspace.Line(rd.session).Path(c.r.Context(), rd.leaf, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	p, err := rd.page(path.Nodes)
	if err != nil {
		return nil, err
	}
	nodes := path.Nodes[p.from:p.to]
	out := &messageList{}
	if out.More = p.more; p.more {
		out.Next = cursorText(cursor{Time: path.Nodes[p.last].Time, UUID: path.Nodes[p.last].UUID})
	}
	if out.Events, err = c.eventsAmong(rd, path.Line.UUID, nodes); err != nil {
		return nil, err
	}
	messages, places := rd.messages(path.Nodes[:p.from], nodes, out, c.opts.Count)
	for i, m := range messages {
		n := &nodes[places[i]]
		out.IDs = append(out.IDs, n.UUID)
		out.Metas = append(out.Metas, orEmpty(n.Meta))
		out.Tokens += m.Tokens(c.opts.Count)
	}
	if rd.format == content.Acontext {
		err = c.acontextItems(rd, path, p, messages, places, out)
	} else {
		out.Items = content.Items(rd.format, messages, c.inline(rd))
	}
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		out.Items, out.IDs, out.Metas = []json.RawMessage{}, []string{}, []json.RawMessage{}
	}
	return ok(out.pieces()), nil
}

// pieces returns the list as JSON.
func (l *messageList) pieces() exchange.Pieces {
	p := exchange.Pieces{[]byte(`{"items":[`)}
	for i, item := range l.Items {
		if i > 0 {
			p = append(p, []byte(","))
		}
		p = append(p, item)
	}
	rest := rawjson.Compact(&l.messageRest)
	return append(p, []byte("],"), rest[len("{"):])
}

// page returns the requested part of the nodes of a path.
func (rd *reading) page(nodes []lines.Node) (page, error) {
	after := -1
	if rd.after != nil {
		if after = rd.at(nodes); after < 0 {
			return page{}, noCursor()
		}
	}
	return cut(len(nodes), after, rd.limit, rd.newest), nil
}

// at returns the index of the message that the cursor names, or -1. In files of
// other programs several messages may have the same UUID: then it prefers one with
// the cursor's time, and among equals the last one in the direction of paging, so
// that paging ends.
func (rd *reading) at(nodes []lines.Node) int {
	at, exact := -1, false
	for i, n := range nodes {
		if n.UUID != rd.after.UUID {
			continue
		}
		same := n.Time.UnixNano() == rd.after.Time.UnixNano()
		if at < 0 || same && !exact || same == exact && !rd.newest {
			at, exact = i, same
		}
	}
	return at
}

// messages returns the contents of nodes after the strategies, with the index of
// each in nodes. before are the nodes above them, which are not part of the page
// but may hold the calls of its results.
func (rd *reading) messages(before, nodes []lines.Node, out *messageList, count func(string) int) ([]*content.Message, []int) {
	list := readAll(nodes)
	edited := len(nodes) // number of nodes to edit
	for i := range nodes {
		if nodes[i].UUID == rd.pin {
			edited = i + 1
		}
	}
	if edited > 0 {
		out.Edited = nodes[edited-1].UUID
	}
	if rd.format == content.Gemini || len(rd.strategies) > 0 {
		content.Follow(readAll(before), list)
	}
	return content.Edit(list, edited, rd.strategies, count)
}

// readAll decodes the contents of nodes.
func readAll(nodes []lines.Node) []*content.Message {
	list := make([]*content.Message, len(nodes))
	for i := range nodes {
		list[i] = content.Read(nodes[i].Raw)
	}
	return list
}

// eventsAmong returns the events of the line with a UUID in the time span of the
// messages, if requested.
func (c *call) eventsAmong(rd *reading, line string, nodes []lines.Node) ([]eventItem, error) {
	if !rd.events || len(nodes) == 0 {
		return nil, nil
	}
	events, err := c.workspace.Line(rd.session).Events(c.r.Context())
	if err != nil {
		return nil, err
	}
	var first, last time.Time
	for _, n := range nodes {
		if !n.Time.IsZero() && (first.IsZero() || n.Time.Before(first)) {
			first = n.Time
		}
		if n.Time.After(last) {
			last = n.Time
		}
	}
	var items []eventItem
	for i := range events {
		if at := events[i].CreatedAt; !at.Before(first) && !at.After(last) {
			items = append(items, c.eventItem(line, &events[i]))
		}
	}
	return items, nil
}

// countTokens answers the number of tokens of all messages of a session.
func countTokens(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	all, err := c.workspace.Line(name).All(c.r.Context(), session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	total := 0
	for i := range all.Nodes {
		total += content.Read(all.Nodes[i].Raw).Tokens(c.opts.Count)
	}
	return ok(map[string]int{"total_tokens": total}), nil
}
