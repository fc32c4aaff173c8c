package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// A game is a workspace in which bough and other programs make random changes.
type game struct {
	*folder
	limits  index.Limits
	random  *rand.Rand
	clock   time.Time
	ids     []string // all ids ever used
	penguin bool     // most links are in Penguin's dialect
	inPlace bool     // a file was changed without a change of the folder
	old     map[string][]byte
	done    []string
}

func newGame(t *testing.T, seed uint64) *game {
	g := &game{
		folder: newFolder(t),
		random: rand.New(rand.NewPCG(seed, 3)),
		clock:  time.Date(2026, 5, 25, 15, 0, 0, 0, time.UTC),
		old:    map[string][]byte{},

		penguin: seed%6 == 5,
	}
	g.limits = index.Limits{Index: 1500 + g.random.Int64N(1500), Journal: 500 + g.random.Int64N(4000)}
	if seed%2 == 1 {
		g.limits.Sessions, g.limits.Lines = 3+g.random.Int64N(5), 1+g.random.Int64N(6)
		g.limits.Index *= 2
	}
	g.aliases = map[string]string{"cp_1": "s1", "cp_2": "s4"}
	return g
}

func (g *game) fatal(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatalf("after %s: %v", strings.Join(g.done, ", "), err)
	}
}

// any returns a present or former id, or a new one.
func (g *game) any() string {
	if len(g.ids) == 0 || g.random.IntN(5) == 0 {
		id := fmt.Sprint("s", len(g.ids))
		g.ids = append(g.ids, id)
		return id
	}
	return g.ids[g.random.IntN(len(g.ids))]
}

// there returns the ids whose files exist.
func (g *game) there() (ids []string) {
	for _, id := range g.ids {
		if _, err := os.Lstat(g.path(id + ".json")); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// content makes a session file of id.
func (g *game) content(id string) string {
	from := g.any()
	switch g.random.IntN(20) {
	case 0:
		return `{"messages":[`
	case 1:
		return fmt.Sprintf(`{"metadata":{"continued_from":%q,"title":"T1"},"messages":[{"id":"a"},{"id":"b"}]}`, from)
	case 2:
		from = "cp_2"
	case 3:
		return `{"messages":[]}`
	}
	links := map[int]string{
		0: `"continued_from":[]`,
		1: fmt.Sprintf(`"continued_from":[%q]`, from),
		2: fmt.Sprintf(`"continued_from":[%q],"branched_from":%[1]q,"branch_point":"m","lineage":["s0"],"flattened_snapshot":true`, from),
		3: fmt.Sprintf(`"continued_from":[%q],"branched_from":%[1]q,"flattened_snapshot":true,"branch_point":"m%d","bough":{"kind":"checkpoint","auto":%v}`, from, 1+len(g.done)%2, len(g.done)%3 > 0),
	}[g.random.IntN(4)]
	if g.random.IntN(4) > 0 {
		links += fmt.Sprintf(`,"title":"T%d"`, g.random.IntN(4))
	}
	if g.random.IntN(8) == 0 {
		links += fmt.Sprintf(`,"continued_to":[%q]`, g.any())
	}
	if g.penguin && g.random.IntN(10) > 0 {
		links = strings.NewReplacer(`"continued_from":[]`, `"x":1`, "[", "", "]", "").Replace(links)
	}
	return fmt.Sprintf(`{"created_at":"2026-05-25T15:%02d:00+00:00","metadata":{%s},"messages":[{"id":"m"}]}`, g.random.IntN(60), links)
}

// now returns a time that was not used before.
func (g *game) now() time.Time {
	g.clock = g.clock.Add(time.Second + 13*time.Nanosecond)
	return g.clock
}

// put writes a session file as bough does, through x.
func (g *game) put(x *index.Index, id string) {
	data := []byte(g.content(id))
	s, err := session.Decode(id, data)
	if err != nil {
		return // bough writes no damaged files
	}
	g.fatal(x.Change(func() error {
		_, err := durable.Replace(g.root, session.FileName(id), durable.Bytes(data))
		return err
	}))
	st, err := sessions.New(g.root, nil).Stat(id)
	g.fatal(err)
	x.Put(s.Summary(), st)
}

// open opens the workspace, by the last look if possible.
func (g *game) open() *index.Index {
	x, err := g.limits.Open(g.root, g.aliases)
	g.fatal(err)
	return x
}

func (g *game) load() *index.Index {
	x, err := g.limits.Load(g.root, g.aliases)
	g.fatal(err)
	return x
}

// write is a command that makes a change.
func (g *game) write() string {
	x := g.open()
	defer x.Close()
	what := "write"
	for range 1 + g.random.IntN(3) {
		id := g.any()
		switch {
		case g.random.IntN(4) > 0:
			g.put(x, id)
			what += " " + id
		case slices.Contains(g.there(), id):
			g.fatal(x.Change(func() error { return os.Remove(g.path(id + ".json")) }))
			x.Remove(id)
			what += " -" + id
		}
	}
	if g.random.IntN(8) == 0 {
		g.fatal(x.Whole())
		what += " whole"
	}
	if g.random.IntN(8) > 0 {
		g.fatal(x.Save())
		g.inPlace = g.inPlace && x.Asked()
		g.plain()
	} else {
		what += " unsaved"
	}
	x.Remember()
	return what
}

// refused is a command that makes no change in the end.
func (g *game) refused() string {
	x := g.open()
	defer x.Close()
	g.fatal(x.Change(func() error {
		g.fatal(os.WriteFile(g.path(".probe"), nil, 0o600))
		return os.Remove(g.path(".probe"))
	}))
	x.Remember()
	return "refused"
}

// read is a command that only reads, after a pause.
func (g *game) read() string {
	g.rest()
	x := g.open()
	defer x.Close()
	x.Lineage(g.any())
	if g.random.IntN(2) == 0 {
		g.fatal(x.Whole())
	}
	x.Remember()
	return "read"
}

// foreign is another program's change of session files.
func (g *game) foreign() string {
	id, at := g.any(), g.now()
	switch g.random.IntN(5) {
	case 0:
		if err := os.Remove(g.path(id + ".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			g.fatal(err)
		}
		return "foreign -" + id
	case 1:
		if slices.Contains(g.there(), id) {
			g.write1(id+".json", g.content(id), at)
			g.inPlace = true
			return "in place " + id
		}
		fallthrough
	case 2:
		g.write1(".temp", g.content(id), at)
		g.fatal(os.Rename(g.path(".temp"), g.path(id+".json")))
		return "foreign rename " + id
	case 3:
		g.write1("a.b.json", "{}", at)
		return "an invalid name"
	}
	g.write1(id+".json", g.content(id), at)
	g.inPlace = true
	return "foreign " + id
}

func (g *game) write1(name, content string, at time.Time) {
	g.folder.write(name, content)
	g.date(name, at)
}

// spoil damages a file that bough can rebuild.
func (g *game) spoil() string {
	name := []string{index.LookPath, index.LookPath, index.TablePath, index.TablePath, index.JournalPath, session.IndexPath}[g.random.IntN(6)]
	path := filepath.Join(g.dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return "nothing to spoil"
	}
	kept, n := g.old[name], g.random.IntN(len(data))
	g.old[name] = bytes.Clone(data)
	switch how := g.random.IntN(4); {
	case how == 0:
		g.fatal(os.Remove(path))
		return "remove " + name
	case how == 1 && kept != nil:
		data = kept
	case how == 2 && strings.HasPrefix(name, ".bough"):
		data[n] ^= 1 << g.random.IntN(8)
	default:
		data = data[:n]
	}
	g.fatal(os.WriteFile(path, data, 0o600))
	return "spoil " + name
}

// TestLaw: after any sequence of events, a cached index returns the same results as
// the files.
func TestLaw(t *testing.T) {
	asked, journaled := 0, 0
	seeds := testsize.Of(3, 3, 24)
	for seed := range uint64(seeds) {
		g := newGame(t, seed)
		for range 40 {
			step := []func() string{g.write, g.write, g.write, g.write, g.refused, g.read, g.read, g.foreign, g.foreign, g.spoil}[g.random.IntN(10)]
			g.done = append(g.done, step())
			x, y := g.open(), g.load()
			if x.Asked() {
				asked++
			}
			if _, err := g.root.Stat(index.JournalPath); err == nil {
				journaled++
			}
			g.same(x, y)
			x.Close()
			if t.Failed() {
				t.Fatalf("seed %d: after %s", seed, strings.Join(g.done, ", "))
			}
		}
		g.root.Close()
		os.RemoveAll(g.dir)
	}
	if asked < 4*seeds || journaled < 4*seeds {
		t.Errorf("a look was cached only %d times, and there was a journal %d times", asked, journaled)
	}
}

// says compares one result.
func (g *game) says(what string, x, y any) {
	g.t.Helper()
	if a, b := fmt.Sprint(x), fmt.Sprint(y); a != b {
		g.t.Errorf("%s: %s, want %s", what, a, b)
	}
}

// sameNames compares the sessions that x and y find by parts of names.
func (g *game) sameNames(x, y *index.Index) {
	g.t.Helper()
	for _, text := range []string{"T0", "t1", "T1", "T2", "Session s1", "session S1", "s", "1", "a.b", "\x00", ""} {
		for what, ask := range map[string]func(*index.Index, string) ([]string, error){"titled": (*index.Index).Titled, "titled in any case": (*index.Index).TitledFold, "containing": (*index.Index).Containing} {
			a, err := ask(x, text)
			g.fatal(err)
			b, err := ask(y, text)
			g.fatal(err)
			g.says(what+" "+text, a, b)
		}
	}
	all := func(match func(*index.Entry) bool) (ids []string) {
		for _, e := range y.Entries() {
			if e.Kind() == session.Checkpoint && match(e) {
				ids = append(ids, e.ID)
			}
		}
		return ids
	}
	for _, message := range []string{"m1", "m2", ""} {
		want := all(func(e *index.Entry) bool { return e.BranchPoint == message })
		g.says("checkpoints at "+message, g.checkpoints(x.CheckpointsAt(message)), want)
		g.says("checkpoints at "+message+" of the files", g.checkpoints(y.CheckpointsAt(message)), want)
	}
	want := all(func(e *index.Entry) bool { return e.Auto })
	g.says("automatic checkpoints", g.checkpoints(x.AutoCheckpoints()), want)
	g.says("automatic checkpoints of the files", g.checkpoints(y.AutoCheckpoints()), want)
}

func (g *game) checkpoints(list []*index.Entry, err error) (ids []string) {
	g.t.Helper()
	g.fatal(err)
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

// same compares the results of x, opened, and y, loaded.
func (g *game) same(x, y *index.Index) {
	g.t.Helper()
	says := g.says
	head := func(x *index.Index) string { return fmt.Sprint(x.Trouble, x.Torn, x.Old, x.Stale(), x.Dialect()) }
	ids := slices.Concat(g.ids, []string{"a.b", "cp_1", "cp_2", "", "nothing", "../s1"})
	g.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	if g.inPlace {
		for _, id := range ids {
			x.Err(id)
		}
	} else {
		says("at first", head(x), head(y))
	}
	if !g.inPlace && g.random.IntN(2) == 0 {
		g.sameNames(x, y)
	}
	for _, id := range ids {
		for _, ask := range g.random.Perm(len(questions)) {
			q := questions[ask]
			says(q.what+" "+id, q.ask(x, id), q.ask(y, id))
		}
	}
	g.sameNames(x, y)
	if g.random.IntN(3) > 0 {
		return
	}
	g.fatal(x.Whole())
	says("in the end", head(x), head(y))
	for _, all := range []func(*index.Index) any{
		func(x *index.Index) any { return describeAll(x.Entries()) },
		func(x *index.Index) any { return describeAll(x.Unusable()) },
		func(x *index.Index) any { return x.Parents() },
		func(x *index.Index) any { return fmt.Sprint(x.Mixed()) },
	} {
		says("all", all(x), all(y))
	}
}

var questions = []struct {
	what string
	ask  func(*index.Index, string) any
}{
	{"entry", func(x *index.Index, id string) any { return describe(x.Entry(id)) }},
	{"error", func(x *index.Index, id string) any { return x.Err(id) }},
	{"origin", func(x *index.Index, id string) any { return x.Origin(id) }},
	{"lineage", func(x *index.Index, id string) any { return fmt.Sprint(x.Lineage(id)) }},
	{"line", func(x *index.Index, id string) any {
		if x.Entry(id) == nil {
			return ""
		}
		return fmt.Sprint(x.Line(id))
	}},
	{"continued to", func(x *index.Index, id string) any { return x.ContinuedTo(id) }},
	{"continuations", func(x *index.Index, id string) any { return x.Continuations(id) }},
	{"children", func(x *index.Index, id string) any { return x.Children(id) }},
	{"broken", func(x *index.Index, id string) any { return x.Broken(id) }},
}

func describe(e *index.Entry) string {
	if e == nil {
		return "none"
	}
	return fmt.Sprint(e.ID, e.Kind(), e.Title, e.ContinuedFrom, e.ListLinks, e.BranchedFrom, e.BranchPoint, e.Meta.Lineage, e.Snapshot, e.Auto,
		session.Bough.Time(e.CreatedAt), session.Bough.Time(e.LastActive), e.MessageCount, e.HeaderCount, e.Size(), e.Err)
}

func describeAll(list []*index.Entry) (all []string) {
	for _, e := range list {
		all = append(all, describe(e))
	}
	return all
}
