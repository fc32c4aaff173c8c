package penguin

import (
	"io"

	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/stored"
	"github.com/bough-dev/bough/session"
)

// Write writes a session that depends on no other.
func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	lost.Conversation(t, report.LostTitles)
	at := session.Bough.Time(o.Now)
	d := &session.Document{ID: o.ID, CreatedAt: at, LastActive: at, Records: t.Logged}
	set := func(key string, value any) {
		d.Metadata.Set(key, rawjson.Value(value, 2))
	}
	if !t.Created.IsZero() {
		d.CreatedAt = session.Bough.Time(t.Created)
	}
	if t.Title != "" {
		set("title", t.Title)
	}
	set("message_count", len(t.Messages))
	if t.Sources != nil {
		own := rawjson.AppendObject(nil, []rawjson.Pair{{Key: "sources", Value: t.Sources}}, 2)
		d.Metadata.Set("bough", own)
	}
	previous := ""
	for _, m := range t.Messages {
		raw := []byte(m.Raw)
		if raw == nil {
			raw = stored.Of(m, session.Bough, o.Now).Encode()
		}
		raw, err := transcript.Below(raw, m.Parent, previous)
		if err != nil {
			return err
		}
		d.Messages = append(d.Messages, session.Run{Raw: raw})
		previous = m.ID
	}
	data, err := d.Bytes(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
