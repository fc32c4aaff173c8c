package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// share has a computer share lines through a store, with a key.
func (c *computer) share(store bucket.Store, key string, lines ...string) {
	c.t.Helper()
	c.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return store, nil }
	_, err := remote.Add(c.t.Context(), c.w, "team", remote.AddOptions{URL: "memory:team", Key: key, Machine: c.name, Share: lines != nil}, c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	if lines == nil {
		return
	}
	r := c.team()
	defer r.Close()
	if _, err := r.Share(c.t.Context(), lines); err != nil {
		c.t.Fatal(err)
	}
}

func (c *computer) team() *remote.Remote {
	return must(remote.Open(c.t.Context(), c.w, "team", c.opts))
}

func (c *computer) syncTeam() *remote.Result {
	c.t.Helper()
	r := c.team()
	defer r.Close()
	result, err := r.Sync(c.t.Context(), remote.PullOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}

// everythingIn returns the decrypted contents of all objects of a store.
func everythingIn(t *testing.T, store bucket.Store, key string) string {
	t.Helper()
	k := must(seal.ReadKeyFile(key)).Key
	var b strings.Builder
	for _, name := range names(t, store) {
		data := must(store.Get(t.Context(), name))
		b.WriteString(name + "\n")
		if plain, err := k.Open(data, 1<<30); err == nil {
			b.Write(plain)
		} else if name != "bough.json" {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return b.String()
}

// TestShare: a share has what was shared and nothing else, in any object, and what others add to it comes
// back; in both directions only that is sent.
func TestShare(t *testing.T) {
	ctx := t.Context()
	home := &bucket.Memory{}
	list := computers(t, home, "laptop")
	a := list[0]
	a.opts.Person = "Ada"
	var secret []string // texts and ids that were not shared
	hide := func(s ...string) { secret = append(secret, s...) }
	say := func(c *computer, id, parent, text string) string {
		t.Helper()
		return must(c.w.Append(ctx, workspace.Append{Session: id, Parent: parent, Text: text})).Message
	}
	long := strings.Repeat(" and more", 100) // a snapshot would repeat it by a path

	// A conversation of which only a path is shared.
	plan := must(a.w.New(ctx, "Hidden plan")).ID
	first := say(a, plan, "", "Public question"+long)
	second := say(a, plan, first, "Public answer"+long)
	hide(plan, "Hidden", say(a, plan, second, "Hidden continuation"), say(a, plan, first, "Hidden branch"))
	hide(must(a.w.Checkpoint(ctx, plan+"@"+second, workspace.SnapshotOptions{Name: "Hidden checkpoint"})).ID)
	path := must(a.w.Branch(ctx, plan+"@"+second, workspace.SnapshotOptions{Name: "Public path", KeepHead: true})).ID

	// One that is shared as a whole, with its branches and continuations.
	whole := must(a.w.New(ctx, "Public line")).ID
	w1 := say(a, whole, "", "Public beginning"+long)
	say(a, whole, w1, "Public branch one")
	say(a, whole, w1, "Public branch two")
	must(a.w.Bookmark(ctx, whole+"@"+w1, "public-label", workspace.BookmarkOptions{}))

	// And all else that a workspace may have.
	other := must(a.w.New(ctx, "Hidden title")).ID
	hide(other, say(a, other, "", "Hidden text"))
	must(a.w.Bookmark(ctx, other+"@last", "hidden-label", workspace.BookmarkOptions{}))
	agent := must(a.w.Agent("hidden-agent").Create(ctx, agents.Options{Model: "hidden-model", System: "Hidden prompt"}))
	hide(agent.ID, "hidden-")
	if err := a.w.AppendLearnings(ctx, []byte(`{"hidden":"learning"}`+"\n")); err != nil {
		t.Fatal(err)
	}
	hide(`"hidden"`)
	must(a.w.MapProject(ctx, "hidden-project", t.TempDir()))
	a.push() // the private remote has them

	team := &bucket.Memory{}
	key := filepath.Join(t.TempDir(), "team.key")
	_, err := remote.Add(ctx, a.w, "team", remote.AddOptions{URL: "memory:team", Key: must(a.remote().Info()).Key, Share: true}, a.opts)
	if !errors.Is(err, fault.Refused) {
		t.Errorf("a share with the key of the private remote: %v", err)
	}
	alone := *a // with a store of its own
	alone.share(team, key, path, whole)
	alone.syncTeam()
	check := func(when string) {
		t.Helper()
		all := everythingIn(t, team, key)
		for _, s := range secret {
			if strings.Contains(all, s) {
				i := strings.Index(all, s)
				t.Errorf("%s, the share has %q: …%s…", when, s, all[max(0, i-200):min(len(all), i+100)])
			}
		}
		for _, s := range []string{"Public question", "Public answer", "Public beginning", "Public branch two", "public-label", "Public path", "Ada"} {
			if !strings.Contains(all, s) {
				t.Errorf("%s, the share lacks %q", when, s)
			}
		}
	}
	check("at first")

	// The other one has conversations of their own, and sends none of them.
	b := computers(t, &bucket.Memory{}, "unused", "desktop")[1]
	b.opts.Person = "Bo"
	own := must(b.w.New(ctx, "Hidden of Bo")).ID
	hide(own, say(b, own, "", "Hidden words of Bo"))
	b.share(team, key, []string(nil)...)
	early := b.team()
	must(early.Push(ctx, remote.PushOptions{})) // before anything was read
	early.Close()
	check("after a push of one who has read nothing")
	b.syncTeam()
	for _, id := range []string{path, whole} {
		shown := must(b.w.Show(ctx, id, session.ReadOptions{}))
		if len(shown.Messages) != 2 {
			t.Errorf("%s has %d messages there", id, len(shown.Messages))
		}
	}
	if list := must(b.w.List(ctx, "")); len(list.Sessions) != 3 {
		t.Errorf("there are %d sessions there", len(list.Sessions))
	}
	reply := say(b, path, second, "Public reply")
	must(b.w.Rename(ctx, whole, "Public line of both"))
	deep := ""
	for i := range 12 { // with continuations
		deep = say(b, whole, deep, fmt.Sprint("Public addition ", i))
	}
	b.syncTeam()
	got := alone.syncTeam()
	if !slices.Contains(got.Sessions, path) || len(got.Left)+len(got.Problems) > 0 {
		t.Errorf("the reply came as %+v", got)
	}
	if p := must(a.w.Show(ctx, path+"@"+reply, session.ReadOptions{})); len(p.Messages) != 3 {
		t.Errorf("it follows %d messages", len(p.Messages)-1)
	}
	if p := must(a.w.Show(ctx, whole+"@"+deep, session.ReadOptions{})); len(p.Messages) < 10 {
		t.Errorf("the line has %d messages", len(p.Messages))
	}
	say(a, path, reply, "Public thanks")
	hide(say(a, plan, second, "Hidden later"), say(a, other, "", "Hidden too"), must(a.w.New(ctx, "Hidden new")).ID)
	alone.syncTeam()
	b.syncTeam()
	check("in the end")
	if p := must(b.w.Show(ctx, path, session.ReadOptions{})); len(p.Messages) != 4 {
		t.Errorf("there the path has %d messages", len(p.Messages))
	}

	// What one removes stays with the others.
	must(b.w.Remove(ctx, whole, workspace.RemoveOptions{Line: true}))
	b.syncTeam()
	alone.syncTeam()
	must(a.w.Show(ctx, whole, session.ReadOptions{}))

	// No machine gets a conversation by naming it: as one of the share, or by continuing it.
	thief := must(b.w.Mirror().Messages(ctx, own))
	shell := fmt.Appendf(nil, `{"id":%q,"created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{"continued_from":[]},"messages":[]}`, other)
	must(b.w.Mirror().Apply(ctx, mirror.Changes{New: []mirror.NewSession{{Session: mirror.Session{ID: other, Shell: shell}, Messages: thief[:1]}}}))
	r := b.team()
	if _, err := r.Share(ctx, []string{other}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	b.syncTeam()
	secret = slices.DeleteFunc(secret, func(s string) bool { return s == other || s == thief[0].ID || s == "Hidden" })
	before := must(a.w.Mirror().Messages(ctx, other))
	got = alone.syncTeam()
	if after := must(a.w.Mirror().Messages(ctx, other)); len(after) != len(before) || len(got.Left) == 0 {
		t.Errorf("a forged session changed a private one: %d messages, and then %d; %+v", len(before), len(after), got.Left)
	}
	say(a, other, "", "Hidden answer to the thief")
	alone.syncTeam()
	if all := everythingIn(t, team, key); strings.Contains(all, "Hidden answer") || strings.Contains(all, "Hidden too") {
		t.Error("a private conversation was sent because another one named it")
	}

	// The private remote still works, and has both.
	a.push()
	for name, c := range map[string]*computer{"laptop": a, "desktop": b} {
		if report := must(c.w.Doctor(ctx, doctor.Options{})); !report.OK {
			t.Errorf("the doctor finds on %s: %+v", name, report.Problems)
		}
	}
}

// TestShareByNaming: naming a file or an absent session in a share does not send it to the others.
func TestShareByNaming(t *testing.T) {
	ctx := t.Context()
	a := computers(t, &bucket.Memory{}, "laptop")[0]
	b := computers(t, &bucket.Memory{}, "desktop")[0]
	team, key := &bucket.Memory{}, filepath.Join(t.TempDir(), "team.key")
	say := func(c *computer, id, text string) {
		t.Helper()
		must(c.w.Append(ctx, workspace.Append{Session: id, Text: text}))
	}
	write := func(c *computer, name, data string) {
		t.Helper()
		file := filepath.Join(c.w.Dir(), filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	hidden := must(a.w.New(ctx, "Hidden")).ID
	say(a, hidden, "hidden words")
	const content = "hidden content"
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	write(a, "files/"+sum, content)
	line := must(a.w.New(ctx, "Public")).ID
	say(a, line, "public words")
	a.share(team, key, line)
	a.syncTeam()
	b.share(team, key)
	b.syncTeam()

	// The other one names the file, and continues a session that this workspace has in its trash.
	say(b, line, "see "+sum)
	thief := "session_20261124_150000_deadbeef"
	write(b, "conversations/"+thief+".json", fmt.Sprintf(`{"id":%q,"created_at":"2026-11-24T15:00:00+00:00","metadata":{"continued_from":[%q]},"messages":[
{"id":"m0","role":"system","content":"","metadata":{"type":"session_transition","previous_session":%[2]q}},{"id":"m1","role":"user","content":"hi","metadata":{}}]}`, thief, hidden))
	r := b.team()
	if _, err := r.Share(ctx, []string{thief}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	b.syncTeam()
	must(a.w.Remove(ctx, hidden, workspace.RemoveOptions{}))
	if got := a.syncTeam(); len(got.Left) != 1 || got.Left[0].What != thief {
		t.Errorf("omitted is %+v", got.Left)
	}
	must(a.w.Undo(ctx, history.UndoOptions{In: hidden}))
	must(a.w.Show(ctx, hidden, session.ReadOptions{}))
	say(a, line, "more public words")
	a.syncTeam()
	a.syncTeam()
	all := everythingIn(t, team, key)
	if !strings.Contains(all, "more public words") || strings.Contains(all, "hidden words") {
		t.Error("the share has not exactly the shared messages")
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(content))
	if strings.Contains(all, encoded) {
		t.Error("the share has a file that only a message of another machine names")
	}
	say(a, line, "this is "+sum)
	a.syncTeam()
	if !strings.Contains(everythingIn(t, team, key), encoded) {
		t.Error("the share lacks a file that an own message names")
	}
}

// TestShareOfMerges: what bough notes in a message of a conversation that is not shared, such as what was
// merged or copied, is not sent, nor a title that was made of another one's. What names shared ones is.
func TestShareOfMerges(t *testing.T) {
	ctx := t.Context()
	a := computers(t, &bucket.Memory{}, "laptop")[0]
	b := computers(t, &bucket.Memory{}, "desktop")[0]
	team, key := &bucket.Memory{}, filepath.Join(t.TempDir(), "team.key")
	var said []string
	a.opts.Note = func(s string) { said = append(said, s) }
	say := func(id, text string) string {
		t.Helper()
		return must(a.w.Append(ctx, workspace.Append{Session: id, Text: text})).Message
	}
	hidden, line, second := must(a.w.New(ctx, "Hidden source")).ID, must(a.w.New(ctx, "Public")).ID, must(a.w.New(ctx, "Second")).ID
	say(hidden, "a few words")
	say(line, "public words")
	say(second, "more public words")
	snap := must(a.w.Branch(ctx, hidden+"@last", workspace.SnapshotOptions{KeepHead: true})).ID
	merged := must(a.w.Merge(ctx, hidden, merge.Options{Into: line, Summary: "what it came to"}))
	must(a.w.Pick(ctx, rewrite.PickOptions{Refs: []string{hidden + "@first"}, Onto: line}))
	both := must(a.w.Merge(ctx, second, merge.Options{Into: line, Summary: "what the second came to"}))
	a.share(team, key, line, second, snap)
	a.syncTeam()
	all := everythingIn(t, team, key)
	for _, secret := range []string{hidden, "Hidden source (", "picked"} {
		if strings.Contains(all, secret) {
			t.Errorf("the share has %q", secret)
		}
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, string(merged.Message)) }) || len(said) != 1 {
		t.Errorf("notes: %q", said)
	}
	b.share(team, key)
	b.syncTeam()
	if got := must(b.w.Show(ctx, snap, session.ReadOptions{})); got.Entry.Title != "Shared branch" || len(got.Messages) != 1 {
		t.Errorf("the branch is %q with %d messages there", got.Entry.Title, len(got.Messages))
	}
	marks := must(b.w.Show(ctx, line+"@"+string(both.Message), session.ReadOptions{})).Merges
	if len(marks) != 1 || marks[0].Session != second {
		t.Errorf("the merge of the second one is %+v there", marks)
	}
	must(b.w.Rename(ctx, snap, "Of both"))
	b.syncTeam()
	a.syncTeam()
	if sent := a.syncTeam().Sent; sent.Records != 0 || len(said) != 1 {
		t.Errorf("nothing new is sent as %d records, with notes %q", sent.Records, said)
	}
	if got := must(a.w.Show(ctx, snap, session.ReadOptions{})).Entry.Title; got != "Of both" {
		t.Errorf("the branch is %q here", got)
	}
}
