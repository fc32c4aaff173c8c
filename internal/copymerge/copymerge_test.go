package copymerge_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/copymerge"
	"github.com/bough-dev/bough/session"
)

// chat returns a session with messages ID, ID<PARENT or ID=TEXT.
func chat(t *testing.T, active string, messages ...string) *session.Session {
	t.Helper()
	var list []string
	for _, m := range messages {
		id, parent, said := strings.Cut(m, "<")
		id, text, other := strings.Cut(id, "=")
		if !other {
			text = "text of " + id
		}
		metadata := ""
		if said {
			metadata = fmt.Sprintf(`"parent_id": %q`, parent)
		}
		list = append(list, fmt.Sprintf(`{"role": "user", "content": %q, "id": %q, "metadata": {%s}}`, text, id, metadata))
	}
	data := fmt.Sprintf(`{"id": "a", "created_at": "2026-03-14T09:00:00", "last_active": %q, "metadata": {"message_count": %d}, "messages": [%s],
 "tool_call_records": [{"call_id": "of %s"}]}`, active, len(messages), strings.Join(list, ", "), messages[len(messages)-1])
	s, err := session.Decode("a", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// treeText returns the messages of a session, each with its parent, sorted.
func treeText(t *testing.T, data []byte) string {
	t.Helper()
	s, err := session.Decode("a", data)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := session.NewTree([]*session.Outline{s.Outline}, func(*session.Outline) (*session.Session, error) { return s, nil })
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for n := range tr.Len() {
		parent := ""
		if p := tr.Parent(n); p >= 0 {
			parent = tr.ID(p)
		}
		list = append(list, tr.ID(n)+"<"+parent)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestMerge verifies that a session and its copy result in the same tree
// whichever is merged into the other, that all messages of the first are unchanged,
// and that contradictions are refused.
func TestMerge(t *testing.T) {
	type list = []string
	for _, c := range []struct {
		name string
		a, b list
		want string // the tree
	}{
		{"both continued", list{"1", "2", "3a"}, list{"1", "2", "3b", "4b"}, "1< 2<1 3a<2 3b<2 4b<3b"},
		{"one has more messages", list{"1", "2"}, list{"1", "2", "3"}, "1< 2<1 3<2"},
		{"no shared message", list{"1"}, list{"2", "3"}, "1< 2< 3<2"},
		{"with branches", list{"1", "2", "3a", "4a<1"}, list{"1", "2", "5b", "6b<1"}, "1< 2<1 3a<2 4a<1 5b<2 6b<1"},
		{"below an existing message", list{"1", "2", "3"}, list{"1", "2", "3", "4<1", "5"}, "1< 2<1 3<2 4<1 5<4"},
	} {
		const early, late = "2026-03-14T10:00:00", "2026-03-14T11:00:00"
		one, two := chat(t, early, c.a...), chat(t, late, c.b...)
		for _, order := range [][2]*session.Session{{one, two}, {two, one}} {
			into, from := order[0], order[1]
			merge, err := copymerge.Merge(into, from)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			data := merge.Data
			if data == nil {
				t.Errorf("%s: nothing is merged", c.name)
				continue
			}
			if got := treeText(t, data); got != c.want {
				t.Errorf("%s: the tree is %s, want %s", c.name, got, c.want)
			}
			merged, err := session.Decode("a", data)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range into.Messages {
				if string(merged.Messages[i].Raw) != string(m.Raw) {
					t.Errorf("%s: message %s changed to %s", c.name, m.Raw, merged.Messages[i].Raw)
				}
			}
			if merge.Messages > 0 && merged.LastActive != late {
				t.Errorf("%s: last_active is %s", c.name, merged.LastActive)
			}
			if records := merged.Records(); len(records.Calls) != 2 {
				t.Errorf("%s: there are %d records, want 2", c.name, len(records.Calls))
			}
			again, err := copymerge.Merge(merged, from)
			if err != nil || again.Data != nil {
				t.Errorf("%s: merged again it is %s, %v", c.name, again.Data, err)
			}
		}
	}
	for _, c := range []struct {
		a, b list
		want string
	}{
		{list{"1", "2=x"}, list{"1", "2=y", "3"}, `message "2" has different contents in the copy`},
		{list{"1", "2", "3"}, list{"1", "2", "3<1"}, `message "3" has a different parent in the copy`},
	} {
		one, two := chat(t, "2026-03-14T10:00:00", c.a...), chat(t, "2026-03-14T10:00:00", c.b...)
		for _, order := range [][2]*session.Session{{one, two}, {two, one}} {
			var refused *copymerge.Error
			if _, err := copymerge.Merge(order[0], order[1]); !errors.As(err, &refused) || err.Error() != c.want {
				t.Errorf("%v and %v: the error is %v, want %s", c.a, c.b, err, c.want)
			}
		}
	}
}
