package workspace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace"
)

// TestEventsOfWholeOperation: no event of an operation is returned before all of its files are
// in place. Otherwise a program that reads the workspace after an event sees the old state, and
// no later event corrects it. Here the writer stopped between the session and the head.
func TestEventsOfWholeOperation(t *testing.T) {
	t.Parallel()
	const log, head = ".bough/operations.jsonl", "head.json"
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	a := s.append(workspace.Append{Text: "a"})
	before, seq := s.read(head), s.lastSeq()
	b := s.append(workspace.Append{Text: "b"})
	settled := s.read(log)
	if !strings.HasSuffix(settled, "}\n\n") {
		t.Fatalf("the log ends with %q", settled[len(settled)-10:])
	}
	s.write(head, before)
	s.write(log, strings.TrimSuffix(settled, "\n"))

	e := s.events(seq)
	select {
	case event := <-e.list:
		h, err := s.Head(t.Context())
		t.Fatalf("%s is returned while the head is %+v, %v; want none, or the head %s", turnEvent(event), h, err, b.Message)
	case <-time.After(300 * time.Millisecond): // events come within a few
	}
	c := s.append(workspace.Append{Session: bread, Parent: a.Message, Text: "c"}) // completes the operation first
	e.want("message_added "+bread+" "+b.Message+" user", "head_moved "+bread+" "+b.Message)
	if h, err := s.Head(t.Context()); err != nil || string(h.Head.Message) != b.Message {
		t.Errorf("after the events the head is %+v, %v", h, err)
	}
	e.want("branch_created "+bread+" "+c.Message, "message_added "+bread+" "+c.Message+" user")
}
