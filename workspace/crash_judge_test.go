package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// A verdict is the result of checking one folder.
type verdict struct {
	done    bool // the change is visible to any reader
	tidy    bool // the files have their final names, and the ledger of imports is complete
	torn    bool // a pack has a frame that is not whole
	inPack  bool // a text that must be erased is in a pack
	healthy bool // doctor finds no problem before the next write
	saw     view // the state for a reader
	wrong   []complaint
}

// ledgerOf returns the ledger of imports in a folder.
func ledgerOf(t crashdisk.Tree) string {
	if f := t[place+"/.bough/imports.jsonl"]; f != nil {
		return string(f.Data)
	}
	return ""
}

// A complaint is a violation found after a crash.
type complaint struct{ cause, detail string }

// A view is the state of a workspace for a reader: all sessions by id, with their entries
// and messages, and the head.
type view struct {
	sessions map[string]string
	head     string
	log      []string // operations, newest first
}

// attachments returns the contents of the attachments of a message.
func attachments(s *space, m session.Message) (string, error) {
	var all strings.Builder
	for _, sum := range gjson.GetBytes(m.Raw, "content.#.asset.sha256").Array() {
		f, err := s.OpenFile(context.Background(), sum.Str)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(&all, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return all.String(), nil
}

// statesIn adds the states of files to v, with their content, and the links to them.
func (v view) statesIn(s *space) error {
	ctx := context.Background()
	all, err := s.Mirror().Files(ctx, nil)
	if err != nil {
		return err
	}
	for _, st := range all.States {
		var content []byte
		_, left, err := s.Mirror().SendFiles(ctx, []string{st.ID}, func(mirror.Object) bool { return false }, func(pack []byte, _ []mirror.Object) error {
			content = append(content, pack...)
			return nil
		})
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("omitted: %+v", left)
		}
		if err != nil {
			return fmt.Errorf("state %s: %w", st.ID, err)
		}
		i := slices.IndexFunc(all.Folders, func(f mirror.Folder) bool { return f.ID == st.Folder })
		if i < 0 {
			return fmt.Errorf("state %s has no folder", st.ID)
		}
		v.sessions["state "+st.ID] = fmt.Sprintf("%s %+v %x", st.Record, all.Folders[i], content)
		for _, l := range st.Links {
			v.sessions["link to "+st.ID] += string(l)
		}
	}
	return nil
}

// placesIn adds to v where sessions come from, and the folders of projects.
func (v view) placesIn(s *space) error {
	f, err := s.Mirror().Facts(context.Background(), mirror.Known{})
	if err != nil {
		return err
	}
	for _, one := range f.Sessions {
		if o, ok := f.Origins.Session(one.ID); ok {
			v.sessions["origin of "+one.ID] = fmt.Sprint(o.Owner, o.Project)
		}
	}
	list, err := s.Projects(context.Background())
	if err != nil {
		return err
	}
	for _, p := range list {
		v.sessions["project "+p.ID] = fmt.Sprint(p)
	}
	return nil
}

// look reads the workspace in base, except for the session aside.
func (c *crash) look(base, aside string) (v view, err error) {
	s := c.open(base, 3)
	v.sessions = map[string]string{}
	listing, err := s.List(context.Background(), "")
	if code(err) == fault.NotFound {
		return v, nil // no workspace yet
	}
	if err != nil {
		return v, err
	}
	ops, err := s.Log(context.Background(), history.LogOptions{})
	if err != nil {
		return v, err
	}
	for _, o := range ops.Operations {
		v.log = append(v.log, fmt.Sprintf("%d %s %q", o.Seq, o.Verb, o.Sessions))
	}
	for _, e := range listing.Sessions {
		if e.ID == aside {
			continue
		}
		conversation, err := s.Show(context.Background(), e.ID, session.ReadOptions{})
		if err != nil {
			return v, err
		}
		e.Head = false // v.head is checked separately: the head moves after its session exists
		text, err := json.Marshal(e)
		if err != nil {
			return v, err
		}
		var b strings.Builder
		b.Write(text)
		b.WriteString(gjson.GetBytes(conversation.Document(), "metadata.bough").Raw)
		for _, m := range conversation.Messages {
			b.WriteByte('\n')
			b.Write(m.Raw)
			attached, err := attachments(s, m)
			if err != nil {
				return v, err
			}
			b.WriteString(attached)
		}
		v.sessions[e.ID] = b.String()
	}
	if c.states {
		if err := v.statesIn(s); err != nil {
			return v, err
		}
	}
	if c.places {
		if err := v.placesIn(s); err != nil {
			return v, err
		}
	}
	list, err := s.Bookmarks(context.Background(), workspace.BookmarksOptions{})
	if err != nil {
		return v, err
	}
	if len(list.Bookmarks) > 0 {
		v.sessions[bookmark.Path] = fmt.Sprint(list.Bookmarks)
	}
	head, err := s.Head(context.Background())
	if head != nil {
		v.head = fmt.Sprint(*head)
	}
	if err != nil {
		return v, err
	}
	agents, err := s.Agents(context.Background())
	if agents != nil {
		for _, a := range agents.Agents {
			v.head += string(a.File)
			if _, err := s.Agent(a.Name).Snapshot(context.Background()); err != nil {
				return v, err
			}
		}
	}
	return v, err
}

func (c *crash) mustLook(base string) view {
	v, err := c.look(base, c.aside)
	if err != nil {
		c.Fatal(err)
	}
	return v
}

// A unit is one operation of a verb: the sessions that it changes, and its line in the log.
type unit struct {
	sessions []string
	line     string
}

// has reports whether all sessions of u are the same in v and o.
func (u unit) has(v, o view) bool {
	return !slices.ContainsFunc(u.sessions, func(id string) bool { return v.sessions[id] != o.sessions[id] })
}

// units returns the operations of the verb, newest first.
func (c *crash) units(base string) (units []unit) {
	ops, err := c.open(base, 3).Log(context.Background(), history.LogOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for i, o := range ops.Operations[:len(ops.Operations)-len(c.old.log)] {
		units = append(units, unit{o.Sessions, c.new.log[i]})
	}
	return units
}

// halves describes a session of v that is in neither its old nor its new state, operation
// by operation, "" if there is none.
func (c *crash) halves(v view) string {
	for _, u := range c.parts {
		if !u.has(v, c.old) && !u.has(v, c.new) {
			return fmt.Sprintf("%s: %q", u.line, v.sessions)
		}
	}
	for id, text := range v.sessions {
		if text != c.old.sessions[id] && text != c.new.sessions[id] {
			return fmt.Sprintf("%s is %.200q", id, text)
		}
	}
	for id, text := range c.old.sessions {
		if v.sessions[id] != text && v.sessions[id] != c.new.sessions[id] {
			return fmt.Sprintf("%s is %.200q, was %.200q", id, v.sessions[id], text)
		}
	}
	return ""
}

// due returns the lines that the log must have for a view.
func (c *crash) due(v view) (log []string) {
	for _, u := range c.parts {
		if u.has(v, c.new) {
			log = append(log, u.line)
		}
	}
	return append(log, c.old.log...)
}

func (v view) same(o view) bool { return v.head == o.head && maps.Equal(v.sessions, o.sessions) }

// half describes a session of v that is in neither the old nor the new state, "" if there
// is none.
func (c *crash) half(v view) string {
	if maps.Equal(v.sessions, c.old.sessions) || maps.Equal(v.sessions, c.new.sessions) {
		return ""
	}
	if c.apart {
		return c.halves(v)
	}
	for id, text := range c.old.sessions {
		if v.sessions[id] != text && v.sessions[id] != c.new.sessions[id] {
			return fmt.Sprintf("%s is %.200q, was %.200q", id, v.sessions[id], text)
		}
	}
	return fmt.Sprintf("the sessions are %q, were %q, will be %q",
		slices.Sorted(maps.Keys(v.sessions)), slices.Sorted(maps.Keys(c.old.sessions)), slices.Sorted(maps.Keys(c.new.sessions)))
}

// judge checks a folder that a crash may leave.
func (c *crash) judge(t crashdisk.Tree) *verdict {
	c.sum.states.Add(1)
	sum := t.Sum()
	if v := c.verdicts[sum]; v != nil {
		return v
	}
	c.sum.judged.Add(1)
	base := c.folderOf(t)
	defer os.RemoveAll(base)
	v := &verdict{}
	c.verdicts[sum] = v
	v.saw = c.readers(v, base)
	v.tidy = slices.Equal(names(t), c.names) && ledgerOf(t) == c.ledger
	v.torn = hasTornPack(t)
	v.healthy = c.doctor(v, base, "before the next writer", c.passing()...) == 0
	c.writers(v, base, c.open(base, 4))
	return v
}

// passing returns the kinds of problems that the next writer repairs.
func (c *crash) passing() []string {
	kinds := slices.Clip(c.mends)
	if c.old.head != "" && c.new.head == "" {
		kinds = append(kinds, doctor.LostHead)
	}
	return kinds
}

func (v *verdict) is(cause, detail string, args ...any) {
	v.wrong = append(v.wrong, complaint{cause, fmt.Sprintf(detail, args...)})
}

// readers checks what readers see in base.
func (c *crash) readers(v *verdict, base string) view {
	saw, err := c.look(base, c.aside)
	if err != nil {
		v.is("cannot be read", "%v", err)
		return saw
	}
	v.done = saw.same(c.new)
	if half := c.half(saw); half != "" {
		v.is("half", "%s", half)
	}
	if saw.head != c.old.head && saw.head != c.new.head {
		v.is("head", "the head is %s, was %s, will be %s", saw.head, c.old.head, c.new.head)
	}
	c.trashed(v, base)
	return saw
}

// trashed checks that each file which the verb removes is in its place or in the trash.
func (c *crash) trashed(v *verdict, base string) {
	there := map[string]bool{}
	recoverable, left := false, ""
	for name, f := range c.read(base) {
		if f == nil {
			continue
		}
		there[string(f.Data)] = true
		if c.erases != "" && strings.Contains(string(f.Data)+decompressed(f.Data), c.erases) {
			if left = name; strings.HasPrefix(name, place+"/.bough/trash/") || c.intends(name) {
				recoverable = true
			}
		}
	}
	v.inPack = strings.HasSuffix(left, packExt)
	if left != "" && !recoverable && !(v.inPack && c.packs) { // the next purge removes it from a pack
		v.is("text left", "%s has it", left)
	}
	for text, name := range c.trash {
		if !there[text] {
			v.is("lost", "%s is lost, and not in the trash", name)
		}
	}
}

// intends reports whether a file is a session, packed or not, or the record of a pending
// forget.
func (c *crash) intends(name string) bool {
	recipe := strings.HasPrefix(name, place+"/packed/session_2") && strings.HasSuffix(name, ".json")
	return recipe || strings.HasPrefix(name, place+"/"+session.Dir+"/session_2") || name == place+"/.bough/forget.json"
}

// writers checks that the next writer can continue from base.
func (c *crash) writers(v *verdict, base string, s *space) {
	aside, want, err := c.aside, "aside afterwards", error(nil)
	if aside == "" {
		var l *lines.Entry
		if l, _, err = s.NewLine(context.Background(), lines.Options{}); err == nil { // New moves the head
			aside, want = l.ID, ""
		}
	} else {
		_, err = s.Append(context.Background(), workspace.Append{Session: aside, Text: "afterwards"})
	}
	if err != nil {
		v.is("the next writer fails", "%v", err)
		return
	}
	if got, err := c.texts(base, aside); err != nil || got != want {
		v.is("the next writer fails", "%q, %v", got, err)
	}
	now, err := c.look(base, aside)
	if err != nil {
		v.is("cannot be read afterwards", "%v", err)
		return
	}
	isOld, isNew := now.same(c.old), now.same(c.new)
	switch half := c.half(now); {
	case half != "":
		v.is("half afterwards", "%s", half)
	case !isOld && !isNew && !c.apart:
		v.is("head afterwards", "the head is %s, was %s, will be %s", now.head, c.old.head, c.new.head)
	case v.done && !isNew:
		v.is("undone", "a reader saw the change")
	}
	for _, u := range c.parts {
		if u.has(v.saw, c.new) && !u.has(now, c.new) {
			v.is("undone", "a reader saw %s", u.line)
		}
	}
	log := now.log[min(1, len(now.log)):] // without later changes
	due := c.old.log
	if isNew {
		due = c.new.log
	}
	if c.apart {
		if due := c.due(now); !slices.Equal(log, due) {
			v.is("log", "the log is %q, want %q", log, due)
		}
	} else if isOld != isNew && len(c.mends) == 0 && !slices.Equal(log, due) { // the repaired data came from another program, which is an event too
		v.is("log", "the log is %q, want %q", log, due)
	}
	if c.states {
		c.repeats(v, base, s)
	}
	for name := range c.read(base) {
		if strings.HasSuffix(name, durable.TempSuffix) {
			v.is("temporary file", "%s stays", name)
		}
	}
	var may []string
	if isOld {
		may = c.mends
	}
	c.doctor(v, base, "afterwards", may...)
	if c.packs {
		c.repackOnce(v, base)
	}
}

// repeats checks that repeating the verb completes it.
func (c *crash) repeats(v *verdict, base string, s *space) {
	if err := c.verb(s); err != nil {
		v.is("cannot be repeated", "%v", err)
		return
	}
	if now, err := c.look(base, c.aside); err != nil || !now.same(c.new) {
		v.is("not complete when repeated", "%q, %v", now.sessions, err)
	}
}

// texts returns the texts of a session, as s.texts does.
func (c *crash) texts(base, id string) (string, error) {
	conversation, err := c.open(base, 5).Show(context.Background(), id, session.ReadOptions{})
	if err != nil {
		return "", err
	}
	var list []string
	for _, m := range conversation.Messages {
		list = append(list, m.Text())
	}
	return strings.Join(list, " "), nil
}

// doctor reports each problem of a kind that is not in may, and returns the number of
// problems.
func (c *crash) doctor(v *verdict, base, when string, may ...string) int {
	report, err := c.open(base, 5).Doctor(context.Background(), doctor.Options{})
	if code(err) == fault.NotFound {
		return 0
	}
	if err != nil {
		v.is("doctor "+when, "%v", err)
	}
	found := 0
	for _, p := range report.Problems {
		if p.Note { // the next writer completes it
			continue
		}
		if found++; !slices.Contains(may, p.Kind) {
			v.is("doctor "+when+": "+p.Kind, "%s: %s", p.Path, p.Detail)
		}
	}
	return found
}

func healthyBut(t *testing.T, s *space, kinds []string) {
	t.Helper()
	got := slices.DeleteFunc(s.kinds(doctor.Options{}), func(kind string) bool { return kind == doctor.LeftOver })
	if !slices.Equal(got, kinds) {
		t.Fatalf("before the verb doctor finds %q, want %q", got, kinds)
	}
}
