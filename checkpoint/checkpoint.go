// Package checkpoint makes snapshots: self-contained, flattened copies of the path
// to a message.
//
// A snapshot is a session file with the eight keys of every session. It holds each
// message of the path once, with the bytes of its original file; the records of the
// tool calls on the path; and the metadata of the conversation, without links,
// counts and second copies of the transcript. Its own metadata records the source.
// A snapshot still opens after every session that it came from was deleted.
//
// A checkpoint is a read-only, sealed snapshot; a branch is a snapshot that can be
// continued. The functions work on the outlines of sessions and call an opener for
// those whose records are needed. The result is a [session.Document] that the
// caller writes. Only [ListPenguin] and [ReadPenguin] access files: they read the
// checkpoints that Penguin keeps in its own format, which bough never writes.
package checkpoint

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// A Spec describes a new snapshot.
type Spec struct {
	ID      string
	Title   string
	Kind    session.Kind // session.Checkpoint or session.Branch
	Auto    bool         // an automatic checkpoint
	Task    []byte       // the JSON of metadata.bough.task of a checkpoint, nil for none
	Now     string       // in the format of Dialect
	Dialect session.Dialect
	Source  string   // the session whose file holds the last message
	Lineage []string // from the root to Source
}

// Flatten returns the snapshot of the path to node at of t; -1 is the empty path.
// If the path is not the complete conversation, Flatten calls open for the sessions
// that have records. A checkpoint is sealed when it is written.
func Flatten(t *session.Tree, at int, spec Spec, open func(*session.Outline) (*session.Session, error)) (*session.Document, error) {
	path := t.Runs(at)
	point := ""
	if at >= 0 {
		point = t.ID(at)
	}
	return snapshot(t, path, partsOf(t, path), point, spec, open)
}

// Copy returns a snapshot of all messages of t, with all branches, as a session
// that can be continued.
func Copy(t *session.Tree, spec Spec, open func(*session.Outline) (*session.Session, error)) (*session.Document, error) {
	all, err := t.Whole(open)
	if err != nil {
		return nil, err
	}
	point := ""
	if n := t.Newest(0); n >= 0 {
		point = t.ID(n)
	}
	return snapshot(t, all, t.Parts, point, spec, open)
}

// snapshot returns the snapshot of messages of t, which are in parts; point is the
// id of the last one.
func snapshot(t *session.Tree, path []session.Run, parts []*session.Outline, point string, spec Spec, open func(*session.Outline) (*session.Session, error)) (*session.Document, error) {
	records, err := records(t, path, open)
	if err != nil {
		return nil, err
	}
	d := &session.Document{
		ID:         spec.ID,
		CreatedAt:  spec.Now,
		LastActive: spec.Now,
		Messages:   path,
		Records:    records,
	}
	messages := d.Len()
	d.Metadata = InheritedMetadata(parts)
	set := func(key string, value any) {
		d.Metadata.Set(key, rawjson.Value(value, 2))
	}
	if spec.Title != "" {
		set("title", spec.Title)
	}
	if spec.Dialect == session.Bough {
		set("continued_from", []string{spec.Source})
		set("continued_to", []string{})
	}
	set("branched_from", spec.Source)
	if point != "" {
		set("branch_point", point)
	}
	set("lineage", spec.Lineage)
	set("flattened_snapshot", true)
	set("message_count", messages)
	d.Metadata.Set("bough", mark(t.Parts[0], spec, messages))
	return d, nil
}

// mark returns metadata.bough of a snapshot: its kind, and the members that
// programs stored in first, the first file of the line, and the transcripts it was
// imported from, both unchanged.
func mark(first *session.Outline, spec Spec, messages int) []byte {
	pairs := []rawjson.Pair{{Key: "kind", Value: rawjson.Compact(spec.Kind)}}
	set := func(key string, value []byte) {
		if value != nil {
			pairs = append(pairs, rawjson.Pair{Key: key, Value: value})
		}
	}
	if spec.Auto {
		set("auto", []byte("true"))
	}
	for _, key := range []string{"user", "configs", "untracked", "sources"} {
		set(key, first.Own(key))
	}
	set("task", spec.Task)
	// Last, so that no other value can be mistaken for the placeholder.
	if spec.Kind == session.Checkpoint {
		set("sealed", rawjson.Value(struct {
			Messages int    `json:"messages"`
			CRC32C   string `json:"crc32c"`
		}{messages, session.SealPlaceholder}, 3))
	}
	return rawjson.AppendObject(nil, pairs, 2)
}

// View returns the path to node at of t as one document, with the id and the
// metadata of o.
func View(t *session.Tree, at int, o *session.Outline, open func(*session.Outline) (*session.Session, error)) (*session.Document, error) {
	path := t.Runs(at)
	records, err := records(t, path, open)
	return &session.Document{
		ID:         o.ID,
		CreatedAt:  o.CreatedAt,
		LastActive: o.LastActive,
		Metadata:   o.Metadata(),
		Messages:   path,
		Records:    records,
	}, err
}

// records returns the records of the line that belong to path: all of them if path
// is the complete conversation, else those whose tool call is on it. Records of
// requests to models name no call, so a cut drops them.
func records(t *session.Tree, path []session.Run, open func(*session.Outline) (*session.Session, error)) (session.Records, error) {
	var all session.Records
	n := 0
	for _, run := range path {
		n += run.Len()
	}
	if n == t.Len() {
		for _, o := range t.Parts {
			all.Add(o.Records())
		}
		return all, nil
	}
	kept := map[string]bool{}
	for _, run := range path {
		for i := run.From; i < run.To && run.Part.UsesTools(); i++ {
			calls, results := run.Part.Tools(i)
			for _, id := range slices.Concat(calls, results) {
				kept[id] = true
			}
		}
	}
	for _, o := range t.Parts {
		if r := o.Records(); len(kept) == 0 || len(r.Calls)+len(r.Results) == 0 {
			continue
		}
		s, err := open(o)
		if err != nil {
			return all, err
		}
		r := s.Records()
		cut := func(r session.Record) bool { return !kept[r.Call()] }
		all.Add(session.Records{
			Calls:   slices.DeleteFunc(r.Calls, cut),
			Results: slices.DeleteFunc(r.Results, cut),
		})
	}
	return all, nil
}

// InheritedMetadata returns the metadata that a snapshot or an imported session inherits:
// that of the files of its messages, where later files override earlier ones.
func InheritedMetadata(parts []*session.Outline) session.Metadata {
	var inherited session.Metadata
	for _, part := range parts {
		inherited.Merge(part.Metadata(), func(name string) bool { return !dropped(name) })
	}
	return inherited
}

// partsOf returns the parts that path visits, in order.
func partsOf(t *session.Tree, path []session.Run) []*session.Outline {
	parts := t.Parts[:1:1]
	for _, run := range path {
		if run.Part != parts[len(parts)-1] {
			parts = append(parts, run.Part)
		}
	}
	return parts
}

// dropped reports whether a member of the metadata describes the position and size
// of its file, or repeats the transcript.
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
