package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// RecordExport adds the export of a line to [store.ExportsPath]. It is not an operation, and its failure
// does not fail the export.
func RecordExport(ctx context.Context, w *store.Store, line, format string, written *convert.Written) {
	if len(written.Same) == 0 {
		return
	}
	messages := make([][]string, len(written.Same))
	for i, s := range written.Same {
		messages[i] = []string{s.ID, strconv.FormatUint(s.Digest, 16)}
		if s.Of != s.ID {
			messages[i] = append(messages[i], s.Of)
		}
	}
	record := append(rawjson.Compact(struct {
		Time     string     `json:"time"`
		Format   string     `json:"format"`
		ID       string     `json:"id"`
		Session  string     `json:"session_id"`
		Messages [][]string `json:"messages"`
		Sum      string     `json:"sha256"`
	}{session.Bough.Time(w.Opts.Now()), format, written.ID, line, messages, sumHex(written.Data)}), '\n')
	err := w.Patient().WithLock(ctx, "export", func(root *os.Root) error {
		_, err := durable.Append(root, store.ExportsPath, record)
		return err
	})
	if err != nil {
		w.Opts.Note("the export is not recorded, so importing it will create a new conversation: " + err.Error())
	}
}

// An exportRecord is an exported conversation.
type exportRecord struct {
	format, id string
	sum        string                  // of the transcript, see docs/format.md 24.4
	session    string                  // the first file of its line
	same       map[string]exportedPart // by the ids that a reader gives the messages
}

// An exportedPart is an exported message.
type exportedPart struct {
	digest uint64
	of     string // the message in the workspace
}

// exports are all recorded exports.
type exports struct {
	list    []*exportRecord
	bySelf  map[string][]*exportRecord // by [SourceKey], for those with an id
	byFirst map[string][]*exportRecord // by the id of their first message, for those without

	renamed map[string][]*exportRecord // see [exports.sharing]; nil until needed
}

func sumHex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// An Exported is a transcript that was exported.
type Exported struct {
	ID  string
	sum string
}

// Is reports whether data is the transcript as it was exported.
func (e Exported) Is(data []byte) bool { return sumHex(data) == e.sum }

// ExportsOf returns the exports of a line in a format that have an id, the oldest first.
func ExportsOf(root *os.Root, format, line string) (list []Exported, err error) {
	x, err := readExports(root)
	for _, r := range x.list {
		if r.format == format && r.session == line && r.id != "" {
			list = append(list, Exported{r.id, r.sum})
		}
	}
	return list, err
}

// readExports reads [store.ExportsPath]. It skips malformed lines; an import then
// creates a new conversation for that export.
func readExports(root *os.Root) (*exports, error) {
	x := &exports{bySelf: map[string][]*exportRecord{}, byFirst: map[string][]*exportRecord{}}
	data, err := store.ReadRegular(root, store.ExportsPath)
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if json.Valid(line) {
			x.add(gjson.ParseBytes(line))
		}
	}
	return x, err
}

func (x *exports) add(v gjson.Result) {
	r := &exportRecord{
		format: v.Get("format").String(), id: v.Get("id").String(), session: v.Get("session_id").String(), sum: v.Get("sha256").String(),
		same: map[string]exportedPart{},
	}
	first := ""
	for _, m := range v.Get("messages").Array() {
		parts := m.Array()
		if len(parts) < 2 {
			continue
		}
		digest, err := strconv.ParseUint(parts[1].String(), 16, 64)
		if err != nil {
			continue
		}
		id := parts[0].String()
		of := id
		if len(parts) > 2 {
			of = parts[2].String()
		}
		if first == "" {
			first = id
		}
		r.same[id] = exportedPart{digest, of}
	}
	x.list = append(x.list, r)
	if r.id != "" {
		x.bySelf[SourceKey(r.format, r.id)] = append(x.bySelf[SourceKey(r.format, r.id)], r)
	} else {
		x.byFirst[first] = append(x.byFirst[first], r)
	}
}

// of returns the export that s comes from, nil if there is none. It looks it up
// by the id of s, by the id of the conversation that s is a copy of, then by
// the ids of its messages. If the format has no ids, it returns the longest
// export all of whose messages s has.
func (x *exports) of(s *Spool) *exportRecord {
	last := func(list []*exportRecord) *exportRecord {
		if len(list) == 0 {
			return nil
		}
		return list[len(list)-1]
	}
	if s.conv.ID != "" {
		if r := last(x.bySelf[SourceKey(s.format.Name, s.conv.ID)]); r != nil {
			return r
		}
		if s.conv.Fork != nil {
			if r := last(x.bySelf[SourceKey(s.format.Name, s.conv.Fork.ID)]); r != nil {
				return r
			}
		}
		return x.sharing(s)
	}
	var found *exportRecord
	if len(s.messages) == 0 {
		return nil
	}
	for _, r := range x.byFirst[s.messages[0].id] {
		if (found == nil || len(r.same) >= len(found.same)) && r.within(s) { // Anthropic and OpenAI may write the same bytes
			found = r
		}
	}
	return found
}

// sharing returns the export that shares the most messages with a conversation,
// the last one of equals. Claude Code makes copies that do not name their
// origin. Only messages that got a new id at export count: other ids occur
// elsewhere too.
func (x *exports) sharing(s *Spool) (found *exportRecord) {
	if x.renamed == nil {
		x.renamed = map[string][]*exportRecord{}
		for _, r := range x.list {
			for id, part := range r.same {
				if r.id != "" && part.of != id {
					x.renamed[id] = append(x.renamed[id], r)
				}
			}
		}
	}
	shared, most := map[*exportRecord]int{}, 0
	for i := range s.messages {
		for _, r := range x.renamed[s.messages[i].id] {
			if r.format == s.format.Name && r.same[s.messages[i].id].digest == s.messages[i].digest {
				shared[r]++
				most = max(most, shared[r])
			}
		}
	}
	if most == 0 {
		return nil
	}
	for _, r := range x.list {
		if shared[r] == most {
			found = r
		}
	}
	return found
}

// within reports whether s has all messages of r.
func (r *exportRecord) within(s *Spool) bool {
	found := 0
	for i := range s.messages {
		if part, ok := r.same[s.messages[i].id]; ok && part.digest == s.messages[i].digest {
			found++
		}
	}
	return found == len(r.same)
}
