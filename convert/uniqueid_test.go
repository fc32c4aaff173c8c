package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/tidwall/gjson"
)

// uniqueIDs fails if an id is written twice.
func uniqueIDs(t *testing.T, f *Format, out []byte) {
	t.Helper()
	seen := map[string]bool{}
	for line := range bytes.Lines(out) {
		id := gjson.GetBytes(line, map[string]string{"claude-code": "uuid", "pi": "id"}[f.Name]).Str
		if id != "" && seen[id] {
			t.Fatalf("%s: %s occurs twice in\n%s", f.Name, id, out)
		}
		seen[id] = true
	}
}

// TestUniqueIDs: no id is written twice, for any records that messages share, and the
// contents of the messages are kept.
func TestUniqueIDs(t *testing.T) {
	for _, f := range []*Format{claudeCodeFormat, piFormat} {
		for seed := range testsize.Of[uint64](60, 150, 400) {
			r := rand.New(rand.NewPCG(seed, 2))
			tr := commonRecords(r, f)
			var out bytes.Buffer
			if _, err := f.Write(&out, tr, testOptions(probeID(1))); err != nil {
				t.Fatal(err)
			}
			uniqueIDs(t, f, out.Bytes())
			list, _, err := f.ReadAll(bytes.NewReader(out.Bytes()))
			if err != nil || len(list) != 1 {
				t.Fatalf("%s, seed %d: %v", f.Name, seed, err)
			}
			parents := map[string]string{} // the text before each text
			said := map[string]string{}
			for _, m := range tree.Linked(list[0]).Messages {
				said[m.ID] = m.Text()
				parents[m.Text()] = said[m.Parent]
			}
			for _, m := range tr.Messages {
				before := ""
				for _, p := range tr.Messages {
					if p.ID == m.Parent {
						before = p.Text()
					}
				}
				if got, ok := parents[m.Text()]; !ok || got != before {
					t.Fatalf("%s, seed %d: %q comes after %q, want %q, in\n%s", f.Name, seed, m.Text(), got, before, out.Bytes())
				}
			}
		}
	}
}

// commonRecords returns a random tree of messages. Some have a record with the id of
// another message's record, with the same bytes or others.
func commonRecords(r *rand.Rand, f *Format) *transcript.Transcript {
	id, parent := "uuid", "parentUuid"
	if f == piFormat {
		id, parent = "id", "parentId"
	}
	record := func(format, name, before string, args ...any) json.RawMessage {
		head := fmt.Sprintf(`%q:%q,%q:%s`, id, name, parent, link(before))
		return json.RawMessage(strings.Replace(fmt.Sprintf(format, args...), "HEAD", head, 1))
	}
	rider := `{"type":"system",HEAD,"n":%d}`
	says := `{"type":"user",HEAD,"message":{"role":"user","content":"says %d"}}`
	if f == piFormat {
		rider, says = `{"type":"label",HEAD,"n":%d}`, `{"type":"message",HEAD,"message":{"role":"user","content":"says %d"}}`
	}
	tr := &transcript.Transcript{Format: f.Name}
	tip := map[string]string{} // the record of the message itself
	var ids []string           // of all records
	for n := range 2 + r.IntN(8) {
		m := nativeSaid(fmt.Sprintf("11111111-2222-4333-8444-%012d", n), fmt.Sprintf("says %d", n))
		m.Format = f.Name
		if n > 0 {
			m.Parent = tr.Messages[r.IntN(n)].ID
		}
		before := tip[m.Parent]
		name := func() string {
			if len(ids) > 0 && r.IntN(3) == 0 {
				return ids[r.IntN(len(ids))]
			}
			ids = append(ids, fmt.Sprintf("id%06d", len(ids)))
			return ids[len(ids)-1]
		}
		for range r.IntN(3) {
			rides := name()
			if rides == before {
				continue
			}
			m.Records = append(m.Records, record(rider, rides, before, n*r.IntN(2)))
			before = rides
		}
		own := name()
		m.Records = append(m.Records, record(says, own, before, n))
		tip[m.ID] = own
		tr.Messages = append(tr.Messages, m)
	}
	tr.Leaf = tr.Messages[len(tr.Messages)-1].ID
	return tr
}

func nativeSaid(id, text string) *transcript.Message {
	m := &transcript.Message{ID: id}
	m.Role = "user"
	m.Parts = []content.Part{content.Text(text)}
	return m
}

// link returns the JSON of a link to a record, null for none.
func link(id string) string {
	if id == "" {
		return "null"
	}
	return fmt.Sprintf("%q", id)
}
