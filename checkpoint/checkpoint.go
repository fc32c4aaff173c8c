// Package checkpoint makes snapshots: flattened copies of the path to one
// message, which stand alone.
//
// A snapshot is a session file with the eight keys of every session. It holds
// the messages of the path, each once, with the bytes that they have in the
// files they come from; the records of tool calls that are on the path; and the
// metadata of the conversation, without links, counts and second copies of the
// transcript. Where it was taken stands in its own metadata. Delete every
// session that it came from and it still opens, whole.
//
// A checkpoint is a snapshot that is read-only and sealed; a branch is one to
// go on in. Everything here is decided without touching a file: the result is
// a [session.Document] for somebody to write. The exceptions are [ListPenguin]
// and [ReadPenguin], which read the checkpoints that Penguin keeps for itself;
// nothing writes those.
package checkpoint

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// A Spec says what a new snapshot is to be.
type Spec struct {
	ID      string
	Title   string
	Kind    session.Kind // session.Checkpoint or session.Branch
	Auto    bool         // nobody asked for this checkpoint by name
	Now     string       // in Dialect's form
	Dialect session.Dialect
	Source  string   // the session whose file holds the last message
	Lineage []string // root to Source
}

// Flatten returns the snapshot of the path to node at of t, -1 for that of an
// empty conversation.
func Flatten(t *session.Tree, at int, spec Spec) *session.Document {
	path := t.Path(at)
	d := &session.Document{
		ID:         spec.ID,
		CreatedAt:  spec.Now,
		LastActive: spec.Now,
		Messages:   messages(t, path),
		Count:      len(path),
		Records:    records(t, path),
	}
	d.Metadata = carried(t, at)
	set := func(key string, value any) {
		d.Metadata = append(d.Metadata, rawjson.Pair{Key: key, Value: rawjson.Value(value, 2)})
	}
	if spec.Title != "" {
		set("title", spec.Title)
	}
	if spec.Dialect == session.Bough {
		set("continued_from", []string{spec.Source})
		set("continued_to", []string{})
	}
	set("branched_from", spec.Source)
	if at >= 0 {
		set("branch_point", t.Message(at).ID)
	}
	set("lineage", spec.Lineage)
	set("flattened_snapshot", true)
	set("message_count", len(path))
	set("bough", mark(spec, len(path), d))
	return d
}

// mark is what bough keeps of a snapshot in metadata.bough.
func mark(spec Spec, messages int, d *session.Document) any {
	type seal struct {
		Messages int    `json:"messages"`
		CRC32C   string `json:"crc32c"`
	}
	m := struct {
		Kind   session.Kind `json:"kind"`
		Auto   bool         `json:"auto,omitempty"`
		Sealed *seal        `json:"sealed,omitempty"`
	}{Kind: spec.Kind, Auto: spec.Auto}
	if spec.Kind == session.Checkpoint {
		m.Sealed = &seal{messages, d.MessagesChecksum()}
	}
	return m
}

// View returns the path to node at of t as one document, under the id and with
// the metadata of s: the conversation as s shows it.
func View(t *session.Tree, at int, s *session.Session) *session.Document {
	path := t.Path(at)
	return &session.Document{
		ID:         s.ID,
		CreatedAt:  s.CreatedAt,
		LastActive: s.LastActive,
		Metadata:   s.Metadata(),
		Messages:   messages(t, path),
		Count:      len(path),
		Records:    records(t, path),
	}
}

func messages(t *session.Tree, path []int) [][]byte {
	runs := t.Runs(path)
	list := make([][]byte, len(runs))
	for i, r := range runs {
		list[i] = t.Parts[r.Part].Region(r.From, r.To)
	}
	return list
}

// records returns the records of the line that belong to path: all of them
// where path is all there is, else those whose tool call is on it. Records of
// requests to models name no call, so a cut leaves them out.
func records(t *session.Tree, path []int) session.Records {
	var all session.Records
	for _, s := range t.Parts {
		r := s.Records()
		all.Lifecycles = append(all.Lifecycles, r.Lifecycles...)
		all.Calls = append(all.Calls, r.Calls...)
		all.Results = append(all.Results, r.Results...)
	}
	if len(path) == len(t.Nodes) {
		return all
	}
	kept := map[string]bool{}
	if len(all.Calls)+len(all.Results) > 0 {
		for _, n := range path {
			m := t.Message(n)
			for _, id := range append(m.Calls(), m.Results()...) {
				kept[id] = true
			}
		}
	}
	cut := func(record []byte) bool { return !kept[session.CallOf(record)] }
	return session.Records{
		Calls:   slices.DeleteFunc(all.Calls, cut),
		Results: slices.DeleteFunc(all.Results, cut),
	}
}

// carried returns the metadata that a snapshot takes over: that of the files of
// the path, the later ones winning.
func carried(t *session.Tree, at int) []rawjson.Pair {
	var pairs []rawjson.Pair
	for _, p := range partsOf(t, at) {
		for _, pair := range t.Parts[p].Metadata() {
			if dropped(pair.Key) {
				continue
			}
			i := slices.IndexFunc(pairs, func(q rawjson.Pair) bool { return q.Key == pair.Key })
			if i < 0 {
				pairs = append(pairs, pair)
			} else {
				pairs[i] = pair
			}
		}
	}
	return pairs
}

// partsOf returns the parts that the path to at goes through, in order.
func partsOf(t *session.Tree, at int) []int {
	parts := []int{0}
	for _, n := range t.Path(at) {
		if p := t.Nodes[n].Part; p != parts[len(parts)-1] {
			parts = append(parts, p)
		}
	}
	return parts
}

// dropped reports whether a member of the metadata speaks of the place and size
// of the file that it stands in, or repeats the transcript.
func dropped(key string) bool {
	switch key {
	case "title", "bough",
		"branched_from", "branch_point", "lineage", "flattened_snapshot",
		"original_created_at", "source_session_tokens",
		"_opencode_transcript_v1", "_opencode_revert_v1", "_opencode_revert_snapshot_v1":
		return true
	}
	return strings.HasPrefix(key, "continued_") || strings.HasPrefix(key, "continuation_") ||
		strings.HasSuffix(key, "_count")
}
