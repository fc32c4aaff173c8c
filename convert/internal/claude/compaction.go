package claude

import (
	"slices"

	"github.com/bough-dev/bough/convert/internal/compaction"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

type compactMetadata struct {
	Trigger  string             `json:"trigger"`
	Tokens   int                `json:"preTokens"`
	Segment  *segment           `json:"preservedSegment,omitempty"`
	Messages *preservedMessages `json:"preservedMessages,omitempty"`
}

type segment struct {
	Head   string `json:"headUuid"`
	Anchor string `json:"anchorUuid"`
	Tail   string `json:"tailUuid"`
}

type preservedMessages struct {
	Anchor string   `json:"anchorUuid"`
	UUIDs  []string `json:"uuids"`
	All    []string `json:"allUuids"`
}

// boundary writes the record before a summary that replaces earlier messages, and
// returns its id. row is that of the summary.
func (w *writer) boundary(m *transcript.Message, row row, parent string) (string, error) {
	id, err := w.newID("")
	if err != nil {
		return "", err
	}
	about := compactMetadata{Trigger: "manual"}
	if uuids := w.preserved(m); len(uuids) > 0 {
		about.Segment = &segment{uuids[0], row.UUID, uuids[len(uuids)-1]}
		about.Messages = &preservedMessages{row.UUID, uuids, uuids}
	}
	row.Type, row.Subtype, row.UUID = "system", "compact_boundary", id
	row.Content, row.Level, row.Logical = "Conversation compacted", "info", parent
	row.Compaction = &about
	w.putRow("", row)
	return id, nil
}

// preserved returns the records that a compaction keeps. When Claude Code reads
// them, it moves them below the summary, with all that follows them; so there
// are none if anything else follows them.
func (w *writer) preserved(m *transcript.Message) (uuids []string) {
	list := compaction.Kept(m, w.in)
	for _, k := range list {
		if w.children[k.ID] > 1 {
			w.lost.Add("messages that a compaction kept")
			return nil
		}
		if !w.Has(k) {
			uuids = append(uuids, w.Main[k.ID])
			continue
		}
		for _, r := range k.Records {
			if id := gjson.GetBytes(r, "uuid").Str; id != "" {
				uuids = append(uuids, id)
			}
		}
	}
	return slices.Compact(slices.DeleteFunc(uuids, func(id string) bool { return id == "" }))
}
