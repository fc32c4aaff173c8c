// Package compaction finds the messages that a compaction preserved.
package compaction

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Kept returns the messages before a compaction that its program still sends to the
// model after the summary, in order; for an imported message, according to its
// records. in has all messages by id.
func Kept(m *transcript.Message, in map[string]*transcript.Message) []*transcript.Message {
	from := ""
	for _, r := range m.Records {
		v := gjson.GetManyBytes(r, "firstKeptEntryId", "subtype", "compactMetadata.preservedMessages.uuids.0", "compactMetadata.preservedSegment.headUuid")
		switch {
		case m.Format == "pi" && v[0].Str != "":
			from = v[0].Str
		case m.Format == "claude-code" && v[1].Str == "compact_boundary":
			if from = v[2].Str; from == "" {
				from = v[3].Str
			}
		}
	}
	var list []*transcript.Message
	for at := in[m.Parent]; from != "" && at != nil && len(list) <= len(in); at = in[at.Parent] {
		list = append(list, at)
		if slices.ContainsFunc(at.Records, func(r json.RawMessage) bool {
			v := gjson.GetManyBytes(r, "id", "uuid")
			return v[0].Str == from || v[1].Str == from
		}) {
			slices.Reverse(list)
			return list
		}
	}
	return nil
}
