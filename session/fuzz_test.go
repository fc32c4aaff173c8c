package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// addSessions adds session files to the seed corpus.
func addSessions(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
}

// seeds are session files, some of them damaged.
func seeds(f *testing.F) (list [][]byte) {
	files := []string{
		`{"messages":[]}`,
		`{"messages":[ ]}`,
		`{"messages":[],"x":1,"\u0078":2}`,
		`{"messages":[{"id":"a","x":1,"x":2}],"metadata":{"a":1}}`,
		`{"messages":[{"id":"a"},{"id":"a"}]}`,
		`[{"messages":[]}]`,
		`{"id":"s","metadata":null,"messages":[{"id":"a"}],"last_active":null}`,
		`{"messages":[{"id":"a","n":NaN}],"metadata":{"a":-Infinity,"message_count":1,"t\u0069tle":"x"},"x":[{"k":1,"k":2}]}`,
		"\n{ \"last\\u005factive\" : 1 ,\"messages\"\t:[\r\n{\"id\":\"a\"} , {\"id\":\"b\\u0000\",\"metadata\":{\"parent_id\":null}}\n] }\n",
		`{"metadata":{"continued_from":["p"],"continued_to":[],"title":"","a.b":{"title":1},"*":2,"":3},"messages":[{"id":"a"}]}`,
		`{"metadata":{"title":{"title":[1,2]},"bough":{"kind":"checkpoint","sealed":{"messages":1,"crc32c":"00000000"}}},"messages":[{"id":"a"},{"id":"b"}]}`,
		string(sealed(m("a"), under("a", "b"))),
	}
	for _, file := range (testchat.Chat{Messages: 24, PerFile: 12, Text: 20, Odd: true}).Files() {
		files = append(files, string(file.Data))
	}
	for _, data := range smallSessions() {
		files = append(files, string(data))
	}
	slices.Sort(files)
	for _, file := range files {
		list = append(list, []byte(file))
	}
	if len(list) < 10 {
		f.Fatal("no seeds")
	}
	return list
}

// FuzzDecode: input that decodes is re-encoded to the same bytes; input that does
// not is damaged at an offset in it.
func FuzzDecode(f *testing.F) {
	addSessions(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		s, err := session.Decode("s", data)
		if err != nil {
			var damage *session.DamageError
			if !errors.As(err, &damage) || damage.Offset < 0 || damage.Offset > len(data) {
				t.Errorf("Decode(%q) = %v, want damage at an offset in it", data, err)
			}
			return
		}
		if err := rawjson.Check(kept); err != nil {
			t.Errorf("%q decodes although %v", kept, err)
		}
		s.Frozen()
		if got := string(s.Edit().Edited()); got != string(kept) {
			t.Errorf("%q is written as %q", kept, got)
		}
		members := pairs(t, kept)
		i := slices.IndexFunc(members, func(p rawjson.Pair) bool { return p.Key == "messages" })
		array := members[i].Value
		elements := rawjson.Elements(array, rawjson.Root(array))
		if len(elements) != len(s.Messages) {
			t.Fatalf("%q has %d messages, want %d", kept, len(s.Messages), len(elements))
		}
		for i, m := range s.Messages {
			if want := elements[i].Of(array); !bytes.Equal(m.Raw, want) {
				t.Errorf("message %d of %q is %q, want %q", i, kept, m.Raw, want)
			}
			if _, err := rawjson.Members(m.Raw, rawjson.Root(m.Raw)); err != nil {
				t.Errorf("message %d of %q decodes although %v", i, kept, err)
			}
			m.Text()
			m.Time()
		}
	})
}

// FuzzRecover: from a session truncated anywhere every complete message is
// recovered, byte for byte, in a valid session. The messages recovered from any
// other input are part of it.
func FuzzRecover(f *testing.F) {
	for i, data := range seeds(f) {
		f.Add(data, uint16(len(data)*(i%10+1)/11))
		f.Add(data, uint16(len(data)))
	}
	f.Fuzz(func(t *testing.T, data []byte, end uint16) {
		torn := data[:min(int(end), len(data))]
		kept := bytes.Clone(data)
		recovered, n, ok := session.Recover(torn)
		if !bytes.Equal(data, kept) {
			t.Errorf("Recover changed %q to %q", kept, data)
		}
		if _, err := session.Decode("s", bytes.Clone(torn)); err == nil && ok {
			t.Errorf("%q is recovered although it is complete", torn)
		}
		if !ok {
			return
		}
		s, err := session.Decode("s", recovered)
		if err != nil || len(s.Messages) != n {
			t.Fatalf("%q is recovered as %q, %d messages: %v", torn, recovered, n, err)
		}
		if !bytes.Contains(torn, s.Region(0, n)) {
			t.Errorf("%q is recovered as %q", torn, recovered)
		}
		whole, err := session.Decode("s", data)
		if err != nil {
			return
		}
		want := 0
		for want < len(whole.Messages) && whole.Offset(want)+len(whole.Messages[want].Raw) <= len(torn) {
			want++
		}
		if n != want {
			t.Errorf("%[2]d messages of %[1]q are recovered, want %[3]d", torn, n, want)
		}
	})
}

// FuzzEdit: an edit changes only its own members: every other member of the
// session, its metadata and every message, known or not, keeps its bytes and its
// place.
func FuzzEdit(f *testing.F) {
	addSessions(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := session.Decode("s", data)
		if err != nil {
			return
		}
		id := "new"
		for n := 0; hasID(s, id); n++ {
			id = fmt.Sprint("new", n)
		}
		edit := s.Edit()
		edit.SetMeta("message_count", 17)
		edit.SetMeta("title", "T\"\u2028")
		edit.DeleteMeta("continued_to")
		edit.SetActive("now")
		edit.Append([]byte(m(id)))
		edit.Append([]byte(m(id + "+")))
		edited := edit.Edited()
		after, err := session.Decode("s", edited)
		if err != nil {
			t.Fatalf("%q is edited to %q: %v", data, edited, err)
		}
		sameMembers(t, "the session", pairs(t, data), pairs(t, edited), "metadata", "messages", "last_active")
		sameMembers(t, "the metadata", s.Metadata().Members(), after.Metadata().Members(), "message_count", "title", "continued_to")
		if after.Meta.Title != "T\"\u2028" || after.LastActive != "now" || len(after.Meta.ContinuedTo) > 0 {
			t.Errorf("%q is edited to %q", data, edited)
		}
		if len(after.Messages) != len(s.Messages)+2 || after.Messages[len(s.Messages)].ID != id || after.Messages[len(s.Messages)+1].ID != id+"+" {
			t.Fatalf("%q with two messages more is %q", data, edited)
		}
		if !bytes.Equal(after.Region(0, len(s.Messages)), s.Region(0, len(s.Messages))) {
			t.Errorf("the messages of %q are not the same in %q", data, edited)
		}
	})
}

func hasID(s *session.Session, id string) bool {
	for _, m := range s.Messages {
		if m.ID == id || m.ID == id+"+" {
			return true
		}
	}
	return false
}

func pairs(t *testing.T, data []byte) []rawjson.Pair {
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		t.Fatal(err)
	}
	var list []rawjson.Pair
	for _, m := range members {
		list = append(list, rawjson.Pair{Key: m.Key, Value: m.Value.Of(data)})
	}
	return list
}

// sameMembers compares objects except for the members that may change.
func sameMembers(t *testing.T, what string, before, after []rawjson.Pair, but ...string) {
	others := func(list []rawjson.Pair) (s string) {
		for _, p := range list {
			if !slices.Contains(but, p.Key) {
				s += fmt.Sprintf("%q: %q\n", p.Key, p.Value)
			}
		}
		return s
	}
	if got, want := others(after), others(before); got != want {
		t.Errorf("of %s is left\n%swant\n%s", what, got, want)
	}
}

// FuzzTree: in any line, every path ends in a root without visiting a node twice,
// every message is in the tree once, leaves and depths agree with the edges, and
// only a cycle of parent_ids is damage.
func FuzzTree(f *testing.F) {
	for _, seed := range []string{"", "\x00\x00\x00", "\x01\x02\x04\x03", "\x00\x05\x00\x0d\x01\x15\x02\x08", "\x00\x0b\x13\x03", "\x13\x0b\x1b\x93\x8b\x05\x23", "\x00\x92\x02\x00", "\xff\x1f\x20\x60\x81\x42\x07\x06\x05"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 200 {
			return
		}
		parts := lineOf(data)
		tr, err := newTree(decodeParts(t, parts)...)
		if err != nil {
			for i := range parts {
				for k, message := range parts[i].messages {
					parts[i].messages[k] = strings.ReplaceAll(message, `"joined"`, `"other"`)
				}
			}
			if _, err := newTree(decodeParts(t, parts)...); err == nil {
				t.Errorf("joins make a cycle of %q", data)
			}
			return // a cycle
		}
		messages := 0
		for p, s := range tr.Parts {
			messages += s.Len() - s.Header
			if n := tr.Newest(p); n >= 0 && p == 0 && len(tr.Children()[n]) > 0 {
				t.Errorf("the newest leaf of %q has children", data)
			}
		}
		if tr.Len() > messages {
			t.Errorf("%d messages make %d nodes", messages, tr.Len())
		}
		checkLeaves(t, tr)
		depths := tr.Depths()
		for n := range tr.Len() {
			seen := map[int]bool{}
			path := tr.Path(n)
			for i, k := range path {
				if seen[k] {
					t.Fatalf("the path to node %d of %q is %v", n, data, path)
				}
				seen[k] = true
				if i > 0 && tr.Parent(k) != path[i-1] {
					t.Fatalf("the path to node %d of %q is %v", n, data, path)
				}
			}
			if tr.Parent(path[0]) != -1 || path[len(path)-1] != n {
				t.Fatalf("the path to node %d of %q is %v", n, data, path)
			}
			if depths[n] != len(path) {
				t.Errorf("node %d of %q is %d deep, and its path has %d messages", n, data, depths[n], len(path))
			}
			length := 0
			for _, r := range tr.Runs(n) {
				length += r.To - r.From
			}
			if length != len(path) {
				t.Errorf("the runs of a path of %d hold %d messages", len(path), length)
			}
		}
	})
}

// lineOf makes a line of data, one byte per step: its low bits select the step, the
// others the message.
func lineOf(data []byte) []part {
	parts := []part{{id: "p0"}}
	last := func() *part { return &parts[len(parts)-1] }
	for i, b := range data {
		id, other := fmt.Sprint("m", i), fmt.Sprint("m", b>>3)
		add := func(message string) { last().messages = append(last().messages, message) }
		switch b & 7 {
		case 0, 1:
			add(m(id))
		case 2:
			if b < 128 {
				add(under(other, id)) // an earlier or later message, itself, or none
			} else {
				add(replaced("m0", fmt.Sprint("m", i+int(b>>3&3)), id))
			}
		case 3:
			switch {
			case b>>3 == 0:
				add(message(id, `"parent_id":null`))
			case b < 128:
				add(joined("null", other, id))
			default:
				add(joined(fmt.Sprintf(`"m%d"`, i+int(b>>3&7)), fmt.Sprint("m", b>>3&7), id))
			}
		case 4:
			add(late(other, id))
		case 5:
			from := parts[int(b>>3)%len(parts)].id
			parts = append(parts, part{fmt.Sprint("p", i), fmt.Sprintf(`"continued_from":%q`, from), []string{m("h" + id), marker(from, "")}})
		case 6:
			from := parts[int(b>>3)%len(parts)].id
			parts = append(parts, part{fmt.Sprint("p", i), fmt.Sprintf(`"continued_from":[%q]`, from), []string{marker(from, fmt.Sprintf(`,"parent_id":%q`, other))}})
		case 7: // a message of another file, or its id with other content
			if len(parts) > 1 && len(parts[0].messages) > 0 {
				k := int(b>>3) % len(parts[0].messages)
				if again := parts[0].messages[k]; b>>7 == 0 {
					add(again)
				} else {
					add(message(fmt.Sprint("m", k), `"other":true`))
				}
			}
		}
	}
	for i := range parts {
		parts[i].messages = unique(parts[i].messages)
	}
	return parts
}

// unique removes messages with a duplicate id.
func unique(messages []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, message := range messages {
		s, err := session.Decode("s", file("", message))
		if err == nil && !seen[s.Messages[0].ID] {
			seen[s.Messages[0].ID] = true
			list = append(list, message)
		}
	}
	return list
}
