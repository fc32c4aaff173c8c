package workspace_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

var many = flag.Int("many", 0, "how many changes each process of TestMany and TestPackedProcesses makes; 0 for what the size of the tests says")

// manyLimit is the message limit of a file in TestMany.
const manyLimit = 50

// writerOrder is the environment variable with the order, as JSON, for a process that
// TestMany starts.
const writerOrder = "BOUGH_TEST_WRITER"

type order struct {
	Writer int
	Dir    string
	Each   int
	Shared []string // lines to which all processes append
	Groups bool     // it makes groups of new sessions and of messages in the shared lines
	Packs  bool     // it takes packed checkpoints of the first shared line
}

// A made is one acknowledged change of a process.
type made struct {
	Verb    string
	Writer  int
	N       int    // of the writer's changes
	Line    string // the named session
	Asked   string // the named message, if any
	Session string // the file written or made
	Message string // the one appended, or the last one copied
	Parent  string
	Count   int // of a new session's messages
}

func (m *made) text() string { return fmt.Sprint(m.Writer, "/", m.N) }

func TestMain(m *testing.M) {
	if text := os.Getenv(writerOrder); text != "" {
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
		if err := o.carryOut(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(testsize.InMemory(testsize.Waiting(testsize.LazyGC(m))).Run())
}

// carryOut makes the changes of one process and reports each when it is made.
func (o *order) carryOut(out io.Writer) error {
	random := rand.New(rand.NewPCG(uint64(o.Writer), 15)) // the smallest run has every kind of change
	w, err := workspace.Open(context.Background(), o.Dir, &workspace.Options{Limit: manyLimit, Wait: 10 * time.Minute})
	if err != nil {
		return err
	}
	if o.Groups {
		return o.writeGroups(w)
	}
	if o.Packs {
		return o.takePacked(w, out)
	}
	own := []string{}
	var mine []made // messages
	tell := json.NewEncoder(out)
	for n := range o.Each {
		m := made{Verb: "append", Writer: o.Writer, N: n, Line: o.Shared[random.IntN(len(o.Shared))]}
		if len(own) > 0 && random.IntN(5) == 0 {
			m.Line = own[random.IntN(len(own))]
		}
		if len(mine) > 0 && random.IntN(10) == 0 {
			earlier := mine[random.IntN(len(mine))]
			m.Line, m.Asked = earlier.Line, earlier.Message
		}
		ref := m.Line
		if m.Asked != "" {
			ref += "@" + m.Asked
		}
		switch k := random.IntN(100); {
		case k < 4:
			m.Verb, m.Line, m.Asked = "new", "", ""
			e, err := w.New(context.Background(), m.text())
			if err != nil {
				return err
			}
			m.Session = e.ID
		case k < 10:
			take := w.Branch
			if m.Verb = "branch"; k < 7 {
				m.Verb, take = "checkpoint", w.Checkpoint
			}
			s, err := take(context.Background(), ref, workspace.SnapshotOptions{Name: m.text()})
			if err != nil {
				return err
			}
			m.Session, m.Message, m.Count = s.ID, string(s.BranchPoint), s.MessageCount
		default:
			a, err := w.Append(context.Background(), workspace.Append{Session: m.Line, Parent: m.Asked, Text: m.text()})
			if err != nil {
				return err
			}
			m.Session, m.Message, m.Parent = a.Session, a.Message, string(a.Parent)
			mine = append(mine, m)
		}
		if m.Verb == "new" || m.Verb == "branch" {
			own = append(own, m.Session)
		}
		if err := tell.Encode(m); err != nil {
			return err
		}
	}
	return nil
}

// TestMany: each change that many processes make to one workspace at once exists once, at its
// acknowledged place, and there is no other. Each line is one history: a message follows
// the one before it, or its named parent, from any writer. This holds with an index that is
// rewritten for each change, and with a journal.
func TestMany(t *testing.T) {
	t.Parallel()
	t.Run("index", func(t *testing.T) { testMany(t, 0) })
	t.Run("journal", func(t *testing.T) { testMany(t, 110) })
}

// testMany runs TestMany beside a number of other sessions with long titles.
func testMany(t *testing.T, others int) {
	const shared = 24
	writers, each := testsize.Of(3, 8, 16), cmp.Or(*many, testsize.Of(3, 5, 40))
	dir := t.TempDir()
	s := openSpace(t, dir, manyLimit)
	for n := range others {
		s.messages(fmt.Sprint("long", n), fmt.Sprintf(`"title":%q,"continued_from":[],"continued_to":[]`, strings.Repeat("long ", 2000)))
	}
	var lines []string
	for n := range shared {
		lines = append(lines, s.new(fmt.Sprint("Shared ", n)))
	}
	s.notes = nil // one about the sessions that the index did not have
	began := time.Now()
	changes := letWrite(t, dir, lines, writers, each)
	took := time.Since(began)
	if len(changes) != writers*each {
		t.Fatalf("%d changes, want %d", len(changes), writers*each)
	}
	t.Logf("%d changes in %v", len(changes), took.Round(time.Millisecond))

	h := s.histories()
	acknowledged := map[string]made{} // messages
	sessions := others + shared
	parents := map[string]string{}
	for _, m := range changes {
		if m.Verb == "append" {
			parents[m.Message] = m.Parent
		}
	}
	for _, m := range changes {
		if m.Verb == "append" {
			acknowledged[m.Message] = m
			continue
		}
		sessions++
		e, ok := h.entries[m.Session]
		kind := strings.Replace(m.Verb, "new", "root", 1)
		if !ok || e.Title != m.text() || string(e.Kind) != kind || string(e.BranchPoint) != m.Message {
			t.Errorf("%+v is %+v", m, e)
			continue
		}
		copied := h.files[m.Session].Messages[:m.Count]
		if m.Verb == "checkpoint" {
			copied = h.files[m.Session].Messages
		}
		at := m.Message
		for _, c := range slices.Backward(copied) {
			if c.ID != at {
				t.Errorf("%+v has %s where %s should be", m, c.ID, at)
				break
			}
			at = parents[at]
		}
		if at != "" {
			t.Errorf("%+v does not have %s", m, at)
		}
	}
	if n := len(h.lines); n != sessions {
		t.Errorf("%d lines, want %d", n, sessions)
	}
	for line, files := range h.lines {
		h.judge(t, line, files, acknowledged)
	}
	for id := range acknowledged {
		t.Errorf("%+v is lost", acknowledged[id])
	}
	if len(s.notes) > 0 {
		t.Errorf("notes are %q", s.notes)
	}
	healthy(t, s)
}

// letWrite runs writers processes at once and returns the changes that they acknowledged.
func letWrite(t *testing.T, dir string, shared []string, writers, each int) (changes []made) {
	t.Helper()
	return carriedOut(t, writers, order{Dir: dir, Each: each, Shared: shared})
}

// carriedOut lets a number of processes carry out an order at once and returns the changes
// that they acknowledged.
func carriedOut(t *testing.T, writers int, o order) (changes []made) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			o := o
			o.Writer = n
			text, err := json.Marshal(o)
			if err != nil {
				t.Error(err)
				return
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), writerOrder+"="+string(text), "GORACE=atexit_sleep_ms=0")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("writer %d: %v\n%s", n, err, &stderr)
			}
			mu.Lock()
			defer mu.Unlock()
			for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
				var m made
				if err := d.Decode(&m); err != nil {
					t.Error(err)
					return
				}
				changes = append(changes, m)
			}
		})
	}
	all.Wait()
	return changes
}

// histories are the contents of the files of a workspace.
type histories struct {
	entries map[string]workspace.Entry
	files   map[string]*session.Session
	lines   map[string][]string // files, by the first one
}

func (s *space) histories() *histories {
	s.t.Helper()
	listing, err := s.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	h := &histories{map[string]workspace.Entry{}, map[string]*session.Session{}, map[string][]string{}}
	for _, e := range listing.Sessions {
		h.entries[e.ID] = e
		h.files[e.ID] = s.session(e.ID)
	}
	for id, e := range h.entries {
		line := id
		for h.entries[line].Kind == session.Continuation {
			line = h.entries[line].ContinuedFrom[0]
		}
		h.lines[line] = append(h.lines[line], id)
		for _, to := range e.ContinuedTo {
			if from := h.entries[to].ContinuedFrom; !slices.Equal(from, []string{id}) {
				s.t.Errorf("%s is continued by %s, which continues %q", id, to, from)
			}
		}
		for _, from := range e.ContinuedFrom {
			if to := h.entries[from].ContinuedTo; !slices.Contains(to, id) {
				s.t.Errorf("%s continues %s, which is continued by %q", id, from, to)
			}
			if want := append(slices.Clone(h.entries[from].Lineage), id); !slices.Equal(e.Lineage, want) {
				s.t.Errorf("the lineage of %s is %q, want %q", id, e.Lineage, want)
			}
		}
	}
	return h
}

// A written is a message and its file.
type written struct {
	session.Message
	file string
	at   time.Time
}

// tree returns the tree of a line.
func (h *histories) tree(t *testing.T, files []string) *session.Tree {
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(h.entries[a].Lineage), len(h.entries[b].Lineage)), h.entries[a].CreatedAt.Compare(h.entries[b].CreatedAt))
	})
	var parts []*session.Outline
	for _, id := range files {
		parts = append(parts, h.files[id].Outline)
	}
	tree, err := session.NewTree(parts, func(o *session.Outline) (*session.Session, error) { return o.Session(o.Bytes()), nil })
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// judge compares the messages of a line with the acknowledged ones, and deletes them from
// acknowledged.
func (h *histories) judge(t *testing.T, line string, files []string, acknowledged map[string]made) {
	var list []written
	for _, id := range files {
		e, file := h.entries[id], h.files[id]
		begin := e.HeaderCount
		if id == line && e.BranchedFrom != "" {
			begin = slices.IndexFunc(file.Messages, func(m session.Message) bool { return m.ID == string(e.BranchPoint) }) + 1
		}
		for _, m := range file.Messages[begin:] {
			at, _ := m.Time()
			list = append(list, written{m, id, at})
		}
	}
	slices.SortFunc(list, func(a, b written) int { return a.at.Compare(b.at) })
	tree := h.tree(t, files)
	parent := func(id string) string {
		nodes := tree.Find(id)
		if len(nodes) != 1 {
			return fmt.Sprint(len(nodes), " of it")
		}
		if n := tree.Parent(nodes[0]); n >= 0 {
			return tree.ID(n)
		}
		return ""
	}
	before := string(h.entries[line].BranchPoint)
	last := map[int]int{} // the last message of each writer
	for i, m := range list {
		a, ok := acknowledged[m.ID]
		switch {
		case !ok:
			t.Errorf("%s of %s was not acknowledged, or exists twice", m.ID, m.file)
			continue
		case m.Text() != a.text() || m.file != a.Session:
			t.Errorf("%+v is %q in %s", a, m.Text(), m.file)
		case a.Parent != cmp.Or(a.Asked, before):
			t.Errorf("%+v comes after %s", a, before)
		case a.Parent != parent(m.ID):
			t.Errorf("%+v is below %s", a, parent(m.ID))
		case i > 0 && !m.at.After(list[i-1].at):
			t.Errorf("%+v is not later than the message before it", a)
		case a.N < last[a.Writer]:
			t.Errorf("%+v comes after change %d of its writer", a, last[a.Writer])
		}
		last[a.Writer] = a.N
		before = m.ID
		delete(acknowledged, m.ID)
	}
}
