package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/tidwall/gjson"
)

var (
	kills    = flag.Int("kills", 0, "how many processes TestKills kills; 0 for what the size of the tests says")
	killSeed = flag.Uint64("killseed", 0, "what TestKills begins with; 0 for anything")
)

// TestKills kills processes at random moments, several of which work on one workspace at
// once. Each acknowledged change exists completely; any other exists completely or not at
// all; and doctor finds nothing.
func TestKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGKILL")
	}
	each := testsize.Of(4, 6, 50) // kills in one workspace, of which there are three kinds
	goal, seed := cmp.Or(*kills, testsize.Of(4, 8, 300)), *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed %d", seed)
	began, deeds := time.Now(), 0
	for round := 0; goal > 0 && !t.Failed(); round++ {
		s := newSiege(t, seed, round, min(goal, each))
		s.fight()
		s.judge()
		goal -= s.killed
		deeds += len(s.deeds)
	}
	t.Logf("%d processes in %v", deeds, time.Since(began).Round(time.Second))
}

// A siege is a workspace in which processes work and are killed.
type siege struct {
	t    *testing.T
	dir  string
	name string
	seed [2]uint64
	goal int // the number of processes to kill

	mu       sync.Mutex
	deeds    []*deed
	killed   int
	usual    time.Duration     // the duration of a process
	first    []string          // sessions that existed before
	sessions []string          // known to exist, or to have existed
	messages [][2]string       // session and message
	lines    map[string]string // from sessions to the first known one of their line, "" if unknown
}

// A deed is the command of one process and its outcome.
type deed struct {
	verb       string
	args       []string
	target     string // the session, "" for the head
	text       string // the text to append, or the title; unique
	begin, end time.Time
	reply      gjson.Result // its acknowledged result
	refused    string       // the code of the error
}

func (d *deed) acknowledged() bool { return d.reply.Exists() }

// newSiege makes a workspace: in turn one in bough's dialect, one with a large index, and
// one in Penguin's dialect. Each has conversations that soon need a continuation.
func newSiege(t *testing.T, seed uint64, round, goal int) *siege {
	s := &siege{
		t:     t,
		dir:   t.TempDir(),
		name:  fmt.Sprintf("-killseed %d, workspace %d", seed, round),
		seed:  [2]uint64{seed, uint64(round)},
		goal:  goal,
		usual: 20 * time.Millisecond,
		lines: map[string]string{},
	}
	w := s.open()
	fresh := func(title string) {
		e, err := w.New(t.Context(), title)
		if err != nil {
			t.Fatal(err)
		}
		s.learn(e.ID, e.ID)
	}
	const long, limit = 10_000, 1000
	kind := round % 3
	if kind != 2 {
		fresh("The first")
	}
	for n := range 4 {
		chat := testchat.Chat{Messages: limit - 1 - n%2, PerFile: limit, Text: 40, Seed: uint64(n)}
		if kind == 2 {
			chat.Messages += limit
		}
		files := chat.Files()
		if err := testchat.Write(s.dir, files); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			s.learn(f.ID, files[0].ID)
		}
	}
	if kind == 1 {
		for n := range 120 { // titles as only another program writes them
			id := fmt.Sprint("large", n)
			text := fmt.Appendf(nil, `{"messages":[],"created_at":%q,"last_active":%[1]q,"metadata":{"title":"%s","continued_from":[],"continued_to":[]}}`,
				"2026-04-01T15:32:00.000000+00:00", strings.Repeat(strconv.Itoa(n), long))
			if err := os.WriteFile(filepath.Join(s.dir, filepath.FromSlash(session.FileName(id))), text, 0o600); err != nil {
				t.Fatal(err)
			}
			s.learn(id, id)
		}
		s.sessions = s.sessions[:10]
	}
	fresh("The last")
	s.first = s.sessions
	return s
}

func (s *siege) open() *workspace.Workspace {
	w, err := workspace.Open(s.t.Context(), s.dir, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// learn records a session of a line.
func (s *siege) learn(id, line string) {
	if _, ok := s.lines[id]; !ok {
		s.sessions = append(s.sessions, id)
		s.lines[id] = line
	}
}

// fight runs processes, and kills some, until enough are killed.
func (s *siege) fight() {
	var wg sync.WaitGroup
	for n := range uint64(4) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(s.seed[0], s.seed[1]<<8|n))
			for !s.t.Failed() {
				s.mu.Lock()
				enough := s.killed >= s.goal
				d := s.plan(random)
				delay := time.Duration(0)
				if random.IntN(4) > 0 {
					delay = 1 + time.Duration(random.Int64N(int64(s.usual*5/4)))
				}
				s.mu.Unlock()
				if enough {
					return
				}
				s.do(d, delay)
			}
		})
	}
	wg.Wait()
}

func anyOf[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// plan chooses the next command.
func (s *siege) plan(random *rand.Rand) *deed {
	d := &deed{target: anyOf(random, s.sessions)}
	if random.IntN(3) == 0 {
		d.target = anyOf(random, s.first)
	}
	s.deeds = append(s.deeds, d)
	n := len(s.deeds)
	place := d.target
	within := func() bool { return len(s.messages) > 0 && random.IntN(4) == 0 }
	switch k := random.IntN(100); {
	case k < 45:
		d.verb, d.text = "append", fmt.Sprint("text ", n)
		d.args = []string{d.target, d.text}
		if within() {
			at := anyOf(random, s.messages)
			d.target = at[0]
			d.args = []string{at[0], d.text, "--parent", at[1]}
		}
	case k < 50:
		d.verb, d.target, d.text = "append", "", fmt.Sprint("text ", n)
		d.args = []string{d.text}
	case k < 74:
		if d.verb = "checkpoint"; k < 62 {
			d.verb = "branch"
		}
		if within() {
			at := anyOf(random, s.messages)
			place = at[0] + "@" + at[1]
		}
		d.target, d.text = "", fmt.Sprint(d.verb, " ", n)
		d.args = []string{place, "--name", d.text}
		if d.verb == "checkpoint" && random.IntN(2) == 0 {
			d.args = append(d.args, "--packed")
		}
	case k < 82:
		d.verb, d.text = "rename", fmt.Sprint("title ", n)
		d.args = []string{d.target, d.text}
	case k < 88:
		d.verb, d.args = "rm", []string{d.target}
		if flags := []string{"", "--force", "--line"}; k < 87 {
			if flag := anyOf(random, flags); flag != "" {
				d.args = append(d.args, flag)
			}
		}
	case k < 90:
		d.verb, d.args = "pack", []string{d.target}
		if random.IntN(2) == 0 {
			d.verb = "unpack"
		}
	case k < 91:
		d.verb, d.target = "prune", ""
	case k < 93:
		d.verb, d.target, d.text = "new", "", fmt.Sprint("new ", n)
		d.args = []string{"--title", d.text}
	case k < 96:
		d.verb, d.text = "bookmark", fmt.Sprint("label ", n)
		if within() {
			at := anyOf(random, s.messages)
			place = at[0] + "@" + at[1]
		}
		d.target, d.args = "", []string{place, d.text}
	default:
		d.verb, d.args = "show", []string{d.target}
	}
	return d
}

// do runs the process of d, kills it after the delay unless that is 0, and records its
// output.
func (s *siege) do(d *deed, delay time.Duration) {
	cmd := s.command(append([]string{d.verb}, d.args...)...)
	d.begin = time.Now()
	stdout, stderr, killed, err := runKilled(cmd, delay, nothing)
	d.end = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if killed {
		s.killed++
	} else {
		s.usual = (9*s.usual + d.end.Sub(d.begin)) / 10
	}
	if !strings.HasSuffix(stdout, "\n") || !gjson.Valid(stdout) {
		if !killed {
			s.t.Errorf("%s: %q ends with %v and says\n%s%s", s.name, cmd.Args, err, stdout, stderr)
		}
		return
	}
	reply := gjson.Parse(stdout)
	switch code := reply.Get("error.code").String(); {
	case code == "":
		d.reply = reply
		s.follow(d)
	case code == "not_found", code == "has_children",
		code == "refused" && d.verb == "bookmark",                     // no message yet
		code == "refused" && (d.verb == "pack" || d.verb == "unpack"): // no checkpoint, or Penguin's dialect
		d.refused = code
	default:
		s.t.Errorf("%s: %q ends with %v and says\n%s%s", s.name, cmd.Args, err, stdout, stderr)
	}
}

// runKilled runs a command, kills it after the delay unless that is 0, and returns what it printed and whether it was
// killed. Meanwhile is called once it runs.
func runKilled(cmd *exec.Cmd, delay time.Duration, meanwhile func()) (stdout, stderr string, killed bool, err error) {
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Start(); err != nil {
		return "", "", false, err
	}
	timer := time.AfterFunc(cmp.Or(delay, 5*time.Minute), func() { cmd.Process.Kill() })
	defer timer.Stop()
	meanwhile()
	err = cmd.Wait()
	var exit *exec.ExitError
	killed = errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	return out.String(), log.String(), killed, err
}

func nothing() {}

// follow records the result that d acknowledged.
func (s *siege) follow(d *deed) {
	switch d.verb {
	case "append":
		id := d.reply.Get("session_id").String()
		line := s.lines[d.target]
		if d.reply.Get("forked_from").String() != "" {
			line = id
		}
		s.learn(id, line)
		s.messages = append(s.messages, [2]string{id, d.reply.Get("message_id").String()})
	case "new", "checkpoint", "branch":
		id := d.reply.Get("id").String()
		s.learn(id, id)
	}
}

func (s *siege) command(args ...string) *exec.Cmd {
	return exec.Command("bough", append([]string{"-w", s.dir, "--json"}, args...)...)
}

// judge checks the final state, after all processes have ended.
func (s *siege) judge() {
	if s.t.Failed() {
		return
	}
	s.doctor("when all is quiet", true)
	if out, err := s.command("new").Output(); err != nil {
		s.t.Fatalf("%s: new: %v\n%s", s.name, err, out)
	}
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, durable.TempSuffix) {
			s.t.Errorf("%s: doctor and the next verb that writes leave %s", s.name, name)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.doctor("after the next verb that writes", false)
	r := s.remains()
	for _, d := range s.deeds {
		s.judgeDeed(d, r)
	}
	for id, e := range r.entries {
		s.judgeTitle(id, e.Title)
		s.judgeSnapshot(e, r)
	}
	if s.t.Failed() {
		for _, d := range s.deeds {
			s.t.Logf("%s %q: %.300s%s", d.verb, d.args, d.reply.Raw, d.refused)
		}
	}
}

// doctor fails the test if doctor finds a problem; notes allows interrupted writes that the
// next verb that writes completes. A pack without a checkpoint may remain until the next
// prune.
func (s *siege) doctor(when string, notes bool) {
	out, err := s.command("doctor").Output()
	problems := gjson.GetBytes(out, "problems")
	wrong := func(p gjson.Result) bool {
		return !p.Get("note").Bool() || !notes && p.Get("kind").Str != "unused_pack"
	}
	if err != nil || !problems.IsArray() || slices.ContainsFunc(problems.Array(), wrong) {
		s.t.Errorf("%s: doctor, %s, ends with %v and finds %s", s.name, when, err, out)
	}
}

// A remainder is the final state.
type remainder struct {
	w       *workspace.Workspace
	entries map[string]workspace.Entry
	files   map[string]*session.Session
	texts   map[string]string // of messages, to their ids
	parents map[string]string // of messages
	labels  map[string]bookmark.Bookmark
}

func (s *siege) remains() *remainder {
	r := &remainder{s.open(), map[string]workspace.Entry{}, map[string]*session.Session{}, map[string]string{}, map[string]string{}, map[string]bookmark.Bookmark{}}
	marks, err := r.w.Bookmarks(s.t.Context(), workspace.BookmarksOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, b := range marks.Bookmarks {
		r.labels[b.Label] = b
	}
	listing, err := r.w.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range listing.Sessions {
		data, err := os.ReadFile(filepath.Join(s.dir, session.FileName(e.ID)))
		if e.Packed {
			data, err = s.unpacked(e.ID)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if r.files[e.ID], err = session.Decode(e.ID, data); err != nil {
			s.t.Fatalf("%s: %v", s.name, err)
		}
		r.entries[e.ID] = e
		for _, m := range slices.Backward(r.files[e.ID].Messages[e.HeaderCount:]) {
			if text := m.Text(); strings.HasPrefix(text, "text ") {
				if other, ok := r.texts[text]; ok && other != m.ID {
					s.t.Errorf("%s: %q is in %s and in %s", s.name, text, other, m.ID)
				}
				r.texts[text] = m.ID
			}
			if _, ok := r.parents[m.ID]; !ok {
				parent := ""
				for _, m := range s.path(r, e.ID+"@"+m.ID) {
					if other, ok := r.parents[m.ID]; ok && other != parent {
						s.t.Errorf("%s: %s is under %q and under %q", s.name, m.ID, other, parent)
					}
					r.parents[m.ID] = parent
					parent = m.ID
				}
			}
		}
	}
	return r
}

// unpacked returns the plain file of a packed checkpoint.
func (s *siege) unpacked(id string) ([]byte, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	recipe, err := root.ReadFile(sessions.RecipeFile(id))
	if err != nil {
		return nil, err
	}
	return sessions.New(root, nil).Plain(id, recipe)
}

func (s *siege) path(r *remainder, ref string) []session.Message {
	c, err := r.w.Show(s.t.Context(), ref, session.ReadOptions{})
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.name, ref, err)
	}
	return c.Messages
}

// judgeDeed checks that an acknowledged change exists, and that a refused one does not.
func (s *siege) judgeDeed(d *deed, r *remainder) {
	fail := func(what string) {
		s.t.Helper()
		s.t.Errorf("%s: %s %q, which answered %s%s: %s", s.name, d.verb, d.args, d.reply.Raw, d.refused, what)
	}
	if d.refused != "" {
		if _, ok := r.texts[d.text]; ok {
			fail("the message is there")
		}
		if _, ok := r.labels[d.text]; ok {
			fail("the bookmark is there")
		}
		for _, e := range r.entries {
			if e.Title == d.text {
				fail("the title is that of " + e.ID)
			}
		}
	}
	if !d.acknowledged() || d.verb == "show" || d.verb == "pack" || d.verb == "prune" {
		return
	}
	id := d.reply.Get("id").String()
	if d.verb == "append" {
		id = d.reply.Get("session_id").String()
	}
	if d.verb == "bookmark" {
		id = d.reply.Get("session_id").String()
		if b := r.labels[d.text]; r.files[id] != nil && (b.Session != id || b.Message != d.reply.Get("node_id").String()) {
			fail("the bookmark is not there")
		}
	}
	file := r.files[id]
	switch {
	case d.verb == "rm":
		if file != nil {
			fail("it is there")
		}
		return
	case file == nil:
		if !s.mayBeGone(id) {
			fail("it is gone")
		}
		return
	}
	switch d.verb {
	case "append":
		message := d.reply.Get("message_id").String()
		here := func(m session.Message) bool { return m.ID == message && m.Text() == d.text }
		switch parent := d.reply.Get("parent_id").String(); {
		case !slices.ContainsFunc(file.Messages, here):
			fail("the message is not there")
		case r.parents[message] != parent:
			fail("the message is under " + r.parents[message])
		}
	case "checkpoint", "branch":
		n := int(d.reply.Get("message_count").Int())
		switch kind := r.entries[id].Kind; {
		case string(kind) != d.verb:
			fail("it is a " + string(kind))
		case len(file.Messages) < n || d.verb == "checkpoint" && len(file.Messages) > n:
			fail(fmt.Sprintf("it holds %d messages", len(file.Messages)))
		case n > 0 && file.Messages[n-1].ID != d.reply.Get("branch_point").String():
			fail("it ends with another message")
		}
	}
}

// mayBeGone reports whether a process was to remove the session and did not report a
// failure.
func (s *siege) mayBeGone(id string) bool {
	return slices.ContainsFunc(s.deeds, func(d *deed) bool {
		if d.verb != "rm" || d.refused != "" {
			return false
		}
		a, b := s.lines[id], s.lines[d.target]
		line := a == b || a == "" || b == ""
		return d.target == id || line && slices.Contains(d.args, "--line")
	})
}

// judgeTitle checks that a session has the last title that it was given, or one by a
// process that ran at the same time.
func (s *siege) judgeTitle(id, title string) {
	var named []*deed
	for _, d := range s.deeds {
		creates := (d.verb == "new" || d.verb == "checkpoint" || d.verb == "branch") && d.reply.Get("id").String() == id
		if creates || d.verb == "rename" && d.target == id && d.refused == "" {
			named = append(named, d)
		}
	}
	if !slices.ContainsFunc(named, (*deed).acknowledged) {
		return
	}
	for _, d := range named {
		later := func(other *deed) bool { return other.acknowledged() && other.begin.After(d.end) }
		if d.text == title && !slices.ContainsFunc(named, later) {
			return
		}
	}
	s.t.Errorf("%s: the title of %s is %q", s.name, id, title)
}

// judgeSnapshot checks that a snapshot, acknowledged or not, has the messages of its source
// up to the branch point.
func (s *siege) judgeSnapshot(e workspace.Entry, r *remainder) {
	if e.BranchPoint == "" || r.files[string(e.BranchedFrom)] == nil {
		return
	}
	want, got := s.path(r, string(e.BranchedFrom)+"@"+string(e.BranchPoint)), r.files[e.ID].Messages
	if len(got) < len(want) || e.Kind == session.Checkpoint && len(got) > len(want) {
		s.t.Errorf("%s: %s %s holds %d messages, want %d", s.name, e.Kind, e.ID, len(got), len(want))
		return
	}
	for i, m := range want {
		if got[i].ID != m.ID || !bytes.Equal(got[i].Raw, m.Raw) {
			s.t.Errorf("%s: message %d of %s %s is\n%s\nwant\n%s", s.name, i, e.Kind, e.ID, got[i].Raw, m.Raw)
			return
		}
	}
}
