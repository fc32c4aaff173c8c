package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/tidwall/gjson"
)

// TestChatKills kills processes that talk to one agent, several at once, at random moments.
// Each acknowledged message is exactly once in a conversation or in the queue; any other at
// most once; the head is at an existing message; and doctor finds nothing.
func TestChatKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGKILL")
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed %d", seed)
	goal := cmp.Or(*kills, testsize.Of(4, 8, 150))
	c := &crowd{t: t, dir: t.TempDir(), usual: 30 * time.Millisecond}
	if out, err := c.command("agent", "create", "ada", "--model", "command:echo yes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var wg sync.WaitGroup
	for n := range uint64(3) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, n))
			for c.fight(random, goal) {
			}
		})
	}
	wg.Wait()
	c.judge()
	acknowledged := 0
	for _, r := range c.said {
		if r.ack {
			acknowledged++
		}
	}
	t.Logf("%d processes, %d of them killed, sent %d messages; %d were acknowledged", c.processes, c.killed, len(c.said), acknowledged)
}

// A crowd is a number of processes that talk to one agent.
type crowd struct {
	t   *testing.T
	dir string

	mu        sync.Mutex
	processes int
	killed    int
	usual     time.Duration // the duration of a process
	said      []*remark
	nodes     []string // known to exist
	labels    []string // acknowledged
}

// A remark is a message that a process sends to the agent.
type remark struct {
	text string
	ack  bool
	none bool // it was refused
}

func (c *crowd) command(args ...string) *exec.Cmd {
	return exec.Command("bough", append([]string{"-w", c.dir, "--json"}, args...)...)
}

// fight runs a process, may kill it, and reports whether to run another.
func (c *crowd) fight(random *rand.Rand, goal int) bool {
	c.mu.Lock()
	c.processes++
	n := c.processes
	node, label := "", ""
	if len(c.nodes) > 0 {
		node = anyOf(random, c.nodes)
	}
	delay := time.Duration(0)
	if random.IntN(4) > 0 {
		delay = 1 + time.Duration(random.Int64N(int64(c.usual*5/4)))
	}
	going := c.killed < goal && !c.t.Failed()
	s := &remark{text: fmt.Sprint("text ", n)}
	var args []string
	switch k := random.IntN(100); {
	case k < 45:
		args = []string{"agent", "chat", "ada", s.text, "--stream"}
		if random.IntN(4) == 0 {
			args = append(args, "--fresh")
		}
		if random.IntN(3) == 0 {
			args = append(args, "--no-checkpoint")
		}
	case k < 60:
		args = []string{"steer", "ada", s.text}
		if random.IntN(2) == 0 {
			args = append(args, "--cut")
		}
	case k < 75:
		args = []string{"follow-up", "ada", s.text}
	case k < 82:
		s, args = nil, []string{"queue", "ada", "--resume"}
	case k < 88 || node == "":
		s, args = nil, []string{"agent", "trees", "ada"}
	case k < 94:
		s, label = nil, fmt.Sprint("label ", n)
		args = []string{"bookmark", node, label}
	default:
		_, id, _ := strings.Cut(node, "@")
		s, args = nil, []string{"agent", "rewind", "ada", id}
	}
	if s != nil {
		c.said = append(c.said, s)
	}
	c.mu.Unlock()
	if !going {
		return false
	}

	cmd := c.command(args...)
	began := time.Now()
	stdout, stderr, killed, err := runKilled(cmd, delay, nothing)
	took := time.Since(began)

	c.mu.Lock()
	defer c.mu.Unlock()
	if killed {
		c.killed++
	} else {
		c.usual = (9*c.usual + took) / 10
	}
	for l := range strings.Lines(stdout) {
		doc := gjson.Parse(l)
		switch code := doc.Get("error.code").String(); {
		case !strings.HasSuffix(l, "\n") || !gjson.Valid(l):
			if !killed {
				c.t.Errorf("%q says %q", args, stdout)
			}
		case code == "busy" && s != nil:
			s.none = true
		case code == "busy", code == "locked", code == "not_found" && s == nil:
		case code != "":
			c.t.Errorf("%q exits with %v and prints\n%s%s", args, err, stdout, stderr)
		case doc.Get("type").String() == "message_added":
			c.nodes = append(c.nodes, doc.Get("session_id").String()+"@"+doc.Get("message_id").String())
			if s != nil && doc.Get("role").String() == "user" {
				s.ack = true
			}
		case doc.Get("queue").Exists() && s != nil:
			s.ack = true
		case label != "":
			c.labels = append(c.labels, label)
		}
	}
	return true
}

// judge checks the final state, after all processes have ended.
func (c *crowd) judge() {
	if c.t.Failed() {
		return
	}
	ctx := c.t.Context()
	out, err := c.command("doctor", "--fix").Output()
	problems := gjson.GetBytes(out, "problems")
	wrong := func(p gjson.Result) bool { return !p.Get("note").Bool() } // a kill leaves temporary files, which are notes
	if err != nil || !problems.IsArray() || slices.ContainsFunc(problems.Array(), wrong) {
		c.t.Errorf("doctor ends with %v and finds %s", err, out)
	}
	w, err := workspace.Open(ctx, c.dir, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.judgeTexts(w, "when all is quiet")
	if out, err := c.command("queue", "ada", "--resume").Output(); err != nil || gjson.GetBytes(out, "queue.#").Raw != "0" {
		c.t.Errorf("queue --resume ends with %v and leaves %s", err, out)
	}
	c.judgeTexts(w, "when the queue is empty")
	marks, err := w.Bookmarks(ctx, workspace.BookmarksOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, label := range c.labels {
		if !slices.ContainsFunc(marks.Bookmarks, func(b bookmark.Bookmark) bool { return b.Label == label }) {
			c.t.Errorf("the bookmark %q is lost", label)
		}
	}
	if left, err := filepath.Glob(filepath.Join(c.dir, "agents", "*")); err != nil || len(left) != 1 {
		c.t.Errorf("the other sessions are %q, %v", left, err)
	}
}

// judgeTexts looks up each sent message and the head.
func (c *crowd) judgeTexts(w *workspace.Workspace, when string) {
	ctx := c.t.Context()
	a, err := w.Agent("ada").Info(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	at := map[string][]string{} // from texts to their places
	headIsThere := false
	for _, tree := range a.Trees {
		all, err := w.Line(tree.ID).All(ctx, session.ReadOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		for _, n := range all.Nodes {
			if n.Role() == "user" {
				at[n.Text()] = append(at[n.Text()], tree.ID+"@"+n.ID)
			}
			headIsThere = headIsThere || tree.ID == a.Head.Tree && n.ID == a.Head.Node
		}
		headIsThere = headIsThere || tree.ID == a.Head.Tree && a.Head.Node == "" && len(all.Nodes) == 0
	}
	q, err := w.Agent("ada").Queue(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range q.Queue {
		at[e.Content] = append(at[e.Content], "the queue: "+e.ID)
	}
	if !headIsThere {
		c.t.Errorf("%s, the head is at %+v", when, a.Head)
	}
	for _, s := range c.said {
		places := at[s.text]
		if len(places) > 1 || s.ack && len(places) == 0 || s.none && !s.ack && len(places) > 0 {
			c.t.Errorf("%s, %q (acknowledged: %v, refused: %v) is at %q", when, s.text, s.ack, s.none, places)
		}
	}
}
