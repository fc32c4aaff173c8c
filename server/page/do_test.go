package page_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/server/page"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"golang.org/x/net/html"
)

// TestActions: each action of the page is a verb, and none deletes for good.
func TestActions(t *testing.T) {
	for _, name := range page.Actions() {
		if _, ok := api.Find(name); !ok && name != "trash/restore" && name != "sync/cancel" && name != "replay/cancel" {
			t.Errorf("there is no verb %s", name)
		}
	}
	v := visit(t)
	for _, name := range []string{"forget", "trash/purge", "prune", "doctor/fix", "config/set", "show", "nothing", "", "a/b/c"} {
		if status, d := v.act(name, "session_id", "x"); status != http.StatusNotFound || d.Error.Message == "" {
			t.Errorf("%q: status %d, %+v", name, status, d)
		}
	}
}

// TestStory: forms do what people do to a conversation, say what they did, lead to the
// result, and undo takes it back.
func TestStory(t *testing.T) {
	v := visit(t)
	ctx := t.Context()
	do := func(said, to string, verb string, fields ...string) (undo string) {
		t.Helper()
		status, d := v.act(verb, fields...)
		if status != http.StatusOK || d.Said != said || !strings.HasPrefix(d.To, to) {
			t.Fatalf("%s %q: status %d, %+v", verb, fields, status, d)
		}
		if d.Undo != nil {
			undo = jsonNumber(*d.Undo)
		}
		return undo
	}
	do("Created “Bread”", "/c/session_", "new", "title", "Bread", "back", "/")
	do("Added a message to “Bread”", "/c/session_", "append", "content", "How wet?\r\nVery?", "session_id", "Bread", "role", "", "parent_id", "")
	shown, err := v.w.Show(ctx, "Bread", readOptions)
	if err != nil {
		t.Fatal(err)
	}
	if text := shown.Messages[0].Text(); text != "How wet?\nVery?" {
		t.Errorf("the message is %q", text)
	}
	id, message := shown.Entry.ID, shown.Messages[0].ID
	do("Saved checkpoint “Before rye”", "/k/session_", "checkpoint", "ref", id+"@"+message, "name", "Before rye")
	do("Restored “Before rye”; the next message creates a branch", "/k/session_", "restore", "session_id", "Before rye")
	do("Undid: restored “Before rye”", "/c/"+id, "undo", "seq", newestSeq(t, v.w), "back", "/c/"+id)
	do("Redid: restored “Before rye”", "/c/"+id, "redo", "back", "/c/"+id)
	do("Added a message to “Before rye (branch)”", "/c/session_", "append", "session_id", "Before rye", "content", "And spelt?")
	do("Created branch “Rye”", "/c/session_", "branch", "ref", id+"@"+message, "name", "Rye")
	do("Continuing from here in “Bread”", "/c/"+id+"?leaf="+message+"#m-"+message, "rewind", "ref", id+"@"+message)
	do("Copied messages to “Bread”", "/c/"+id+"?leaf=", "pick", "refs", id+"@"+message)
	do("Undid: copied messages to “Bread”", "/c/"+id, "undo", "seq", newestSeq(t, v.w), "back", "/c/"+id)
	do("Edited a message of “Bread”", "/c/"+id+"?leaf=", "edit", "ref", id+"@"+message, "text", "How dry?\r\nVery?")
	if shown, err := v.w.Show(ctx, "HEAD", readOptions); err != nil || shown.Messages[0].Text() != "How dry?\nVery?" {
		t.Errorf("the other words are %q (%v)", shown.Messages[0].Text(), err)
	}
	do("Undid: edited a message of “Bread”", "/c/"+id, "undo", "seq", newestSeq(t, v.w), "back", "/c/"+id)
	do("Created a branch without some messages", "/c/session_", "prune-context", "ref", id, "squash", ".."+message, "summary", "Wet.")
	do("Undid: created a branch without some messages", "/", "undo", "seq", newestSeq(t, v.w), "back", "/c/"+newest(t, v.w).Sessions[0])
	bookmark := do("Added bookmark “here”", "/c/"+id, "bookmark", "ref", id+"@"+message, "label", "here", "back", "/c/"+id)
	do("Renamed to “Loaf”", "/c/"+id, "rename", "session_id", id, "title", "Loaf", "back", "/c/"+id)

	// Only the newest change of a conversation can be undone.
	if status, d := v.act("undo", "seq", bookmark, "back", "/"); status != http.StatusConflict || d.Error.Code != "refused" || !strings.Contains(d.Error.Message, "came after it") {
		t.Errorf("undo of an older change: status %d, %+v", status, d)
	}
	rename := newestSeq(t, v.w)
	status, d := v.act("undo", "seq", rename, "back", "/c/"+id)
	if status != http.StatusOK || d.Said != "Undid: renamed to “Loaf”" || d.Undo != nil || !d.Redo || d.To != "/c/"+id {
		t.Errorf("undo: status %d, %+v", status, d)
	}
	if status, d := v.act("undo", "seq", rename, "back", "/"); status != http.StatusConflict {
		t.Errorf("undo twice: status %d, %+v", status, d)
	}
	redone := do("Redid: renamed to “Loaf”", "/", "redo", "back", "/")
	do("Undid: renamed to “Loaf”", "/", "undo", "seq", redone, "back", "/")

	// A page that no longer exists after a change is left.
	do("Moved “Rye” to the trash", "/", "rm", "session_id", "Rye", "back", "/c/Rye")
	rye := removed(t, v.w)
	do("Undid: moved “Rye” to the trash", "/c/"+rye, "trash/restore", "session_id", rye, "back", "/c/"+rye)
	if status, d := v.act("trash/restore", "session_id", rye); status != http.StatusConflict {
		t.Errorf("restored twice: status %d, %+v", status, d)
	}
	do("Created branch “Oat”", "/c/", "branch", "ref", id+"@"+message, "name", "Oat")
	oat := newest(t, v.w).Sessions[0]
	do("Undid: created branch “Oat”", "/", "undo", "seq", newestSeq(t, v.w), "back", "/c/"+oat)
	do("Added a message to “Bread”", "/c/"+id, "append", "session_id", id, "content", "More")
	more := newest(t, v.w).Args["message"].(string)
	do("Undid: added a message to “Bread”", "/c/"+id, "undo", "seq", newestSeq(t, v.w), "back", "/c/"+id+"?leaf="+more)
}

// TestUndoAmongOthers: a change is undone by its number although another program changed another
// conversation since.
func TestUndoAmongOthers(t *testing.T) {
	v := visit(t)
	ctx := t.Context()
	bread, err := v.w.New(ctx, "Bread")
	if err != nil {
		t.Fatal(err)
	}
	soup, err := v.w.New(ctx, "Soup")
	if err != nil {
		t.Fatal(err)
	}
	_, d := v.act("append", "session_id", bread.ID, "content", "How wet?")
	if d.Undo == nil {
		t.Fatalf("append: %+v", d)
	}
	wet := jsonNumber(*d.Undo)
	for _, text := range []string{"Salt?", "Pepper?"} {
		if _, err := v.w.Append(ctx, workspace.Append{Session: soup.ID, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if status, d := v.act("undo", "seq", wet); status != http.StatusOK || d.Said != "Undid: added a message to “Bread”" {
		t.Errorf("undo: status %d, %+v", status, d)
	}
	for ref, want := range map[string]int{bread.ID: 0, soup.ID: 2} {
		shown, err := v.w.Show(ctx, ref, readOptions)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(shown.Messages); n != want {
			t.Errorf("%s has %d messages, want %d", shown.Entry.Title, n, want)
		}
	}
	if status, d := v.act("undo", "seq", wet); status != http.StatusConflict || !strings.Contains(d.Error.Message, "already undone") {
		t.Errorf("undo twice: status %d, %+v", status, d)
	}
}

// TestUndoAsks: an undo that names no change says which one it would undo, and changes nothing:
// it may be that of another program. A redo repeats what it names.
func TestUndoAsks(t *testing.T) {
	v := visit(t)
	v.act("new", "title", "Bread")
	if _, err := v.w.Append(t.Context(), workspace.Append{Text: "How wet?"}); err != nil {
		t.Fatal(err)
	}
	last := newestSeq(t, v.w)
	status, d := v.act("undo", "back", "/log")
	if status != http.StatusOK || d.Said != "Undo this? Added a message to “Bread”" || d.Undo == nil || jsonNumber(*d.Undo) != last || d.To != "/log" {
		t.Fatalf("status %d, %+v", status, d)
	}
	if a := v.post("/do/undo", url.Values{"back": {"/log"}}); a.Header.Get("Location") != "/log?said="+last+"#main" {
		t.Errorf("without scripts it leads to %q", a.Header.Get("Location"))
	}
	if got := newestSeq(t, v.w); got != last {
		t.Errorf("it made operation %s", got)
	}
	if status, d := v.act("undo", "seq", last); status != http.StatusOK || !d.Redo {
		t.Errorf("status %d, %+v", status, d)
	}
	undone := newestSeq(t, v.w)
	if status, d := v.act("redo", "seq", last); status != http.StatusConflict || !strings.Contains(d.Error.Message, "came after it") {
		t.Errorf("redo of another operation: status %d, %+v", status, d)
	}
	if status, d := v.act("redo", "seq", undone); status != http.StatusOK || d.Said != "Redid: added a message to “Bread”" {
		t.Errorf("redo: status %d, %+v", status, d)
	}
}

// TestMessageAfterRestore: a message to the checkpoint that was restored moves the head to its
// branch, as it does in the command. A message to another checkpoint leaves the head.
func TestMessageAfterRestore(t *testing.T) {
	v := visit(t)
	ctx := t.Context()
	if _, err := v.w.New(ctx, "Bread"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.w.Append(ctx, workspace.Append{Text: "How wet?"}); err != nil {
		t.Fatal(err)
	}
	var points [2]*workspace.Snapshot
	for i, name := range []string{"Wet", "Dry"} {
		s, err := v.w.Checkpoint(ctx, "Bread", workspace.SnapshotOptions{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		points[i] = s
	}
	if status, d := v.act("restore", "session_id", points[0].ID); status != http.StatusOK {
		t.Fatalf("restore: status %d, %+v", status, d)
	}
	for _, restored := range []bool{false, true} {
		at := points[1]
		if restored {
			at = points[0]
		}
		_, d := v.act("append", "session_id", at.ID, "content", "And now?")
		head, err := v.w.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if moved := strings.HasPrefix(d.To, "/c/"+head.Head.Session+"?"); moved != restored || head.ReadOnly == restored {
			t.Errorf("a message to %s leads to %s, and the head is at %+v", at.Title, d.To, head)
		}
	}
}

// TestForms: a plain form is answered with the page of the result, which says what was done
// and offers the undo; text in the address is not shown.
func TestForms(t *testing.T) {
	v := visit(t)
	a := v.post("/do/new", url.Values{"title": {"<b>Bread</b>"}, "back": {"/"}})
	to := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/c/session_") || !strings.HasSuffix(to, "#main") {
		t.Fatalf("status %d to %q", a.StatusCode, to)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	text := body(t, v.get("/?"+u.RawQuery))
	if !strings.Contains(text, "Created “&lt;b&gt;Bread&lt;/b&gt;”") || !strings.Contains(text, `action="/do/undo"`) {
		t.Errorf("the page says %s", text)
	}
	for _, said := range []string{"99", "0", "-1", "x", "<b>hello</b>"} {
		if text := body(t, v.get("/?said="+url.QueryEscape(said))); strings.Contains(text, "hello") || strings.Contains(text, "/do/undo") {
			t.Errorf("said %q: %s", said, text)
		}
	}
	v.now = v.now.Add(1e12)
	if text := body(t, v.get("/?"+u.RawQuery)); strings.Contains(text, "/do/undo") {
		t.Errorf("later the page says %s", text)
	}
}

// TestBack: a form that does not say where it is leads back to the page that sent it.
func TestBack(t *testing.T) {
	v := visit(t)
	v.act("new", "title", "Bread")
	for referer, want := range map[string]string{
		"":                                       "/?said=",
		"http://" + v.host + "/log?a=b&said=3#x": "/log?a=b&said=",
		"http://evil.example/log":                "/?said=",
		"http://" + v.host + "//evil.example/":   "/?said=",
		"http://" + v.host + "/do/new":           "/?said=",
	} {
		r := v.request("POST", "/do/rename", url.Values{"session_id": {"Bread"}, "title": {"Bread"}})
		r.Header.Set("Referer", referer)
		if got := v.do(r).Header.Get("Location"); !strings.HasPrefix(got, want) && got != want {
			t.Errorf("from %q it leads to %q, want %q", referer, got, want)
		}
	}
}

// TestRefusedForms: an error is shown in the shell, with its status; nothing changes by GET.
func TestRefusedForms(t *testing.T) {
	v := visit(t)
	a := v.post("/do/rename", url.Values{"session_id": {"nothing"}, "title": {"x"}})
	if text := body(t, a); a.StatusCode != http.StatusNotFound || !strings.Contains(text, `role="alert"`) || !strings.Contains(text, `id="tree"`) {
		t.Errorf("status %d: %s", a.StatusCode, text)
	}
	for _, c := range []struct {
		verb   string
		fields []string
		status int
		code   string
	}{
		{"rename", []string{"session_id", "x"}, 400, "usage"},
		{"rename", []string{"session_id", "nothing", "title", "x"}, 404, "not_found"},
		{"append", []string{"content", "a", "unknown", "b"}, 400, "usage"},
		{"undo", []string{"seq", "x"}, 400, "usage"},
		{"undo", nil, 409, "refused"},
		{"redo", []string{"seq", "x"}, 400, "usage"},
		{"redo", nil, 409, "refused"},
		{"trash/restore", nil, 409, "refused"},
		{"rm", []string{"session_id", "a", "force", "maybe"}, 400, "usage"},
		{"rm", []string{"session_id", "a", "session_id", "b"}, 400, "usage"},
	} {
		if status, d := v.act(c.verb, c.fields...); status != c.status || d.Error.Code != c.code || d.Error.Message == "" {
			t.Errorf("%s %q: status %d, %+v", c.verb, c.fields, status, d)
		}
	}
	if a := v.get("/do/new"); a.StatusCode == http.StatusOK || a.StatusCode == http.StatusSeeOther {
		t.Errorf("GET: status %d", a.StatusCode)
	}
	for kind, want := range map[string]int{"application/json": 415, "text/plain": 415, "": 415, "multipart/form-data": 400} {
		r := v.request("POST", "/do/new", url.Values{"title": {"a"}})
		r.Header.Set("Content-Type", kind)
		if a := v.do(r); a.StatusCode != want {
			t.Errorf("%q: status %d, want %d", kind, a.StatusCode, want)
		}
	}
	if log, err := v.w.Log(t.Context(), history.LogOptions{}); err != nil || len(log.Operations) > 0 {
		t.Errorf("it changed %+v, %v", log, err)
	}
}

// TestTypedAgain: a page without scripts that refuses a form shows it again, with what was typed.
func TestTypedAgain(t *testing.T) {
	v := visit(t)
	const wrote = "\n <b>Three</b>\nlines & more"
	a := v.post("/do/append", url.Values{"session_id": {"nothing"}, "parent_id": {"m"}, "content": {wrote}, "back": {"/log"}})
	root, err := html.Parse(a.Body)
	if err != nil || a.StatusCode != http.StatusNotFound {
		t.Fatalf("status %d, %v", a.StatusCode, err)
	}
	got := url.Values{}
	for n := range root.Descendants() {
		if n.Data == "form" && attribute(n, "action") == "/do/append" {
			for field := range n.Descendants() {
				switch field.Data {
				case "input":
					got.Set(attribute(field, "name"), attribute(field, "value"))
				case "textarea":
					got.Set(attribute(field, "name"), field.FirstChild.Data)
				}
			}
		}
	}
	if want := (url.Values{"session_id": {"nothing"}, "parent_id": {"m"}, "content": {wrote}, "back": {"/log"}}); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the form has %q, want %q", got, want)
	}
	for verb, fields := range map[string]url.Values{"rm": {"session_id": {"nothing"}}, "rename": {"session_id": {"nothing"}, "title": {""}}} {
		if _, text, _ := strings.Cut(body(t, v.post("/do/"+verb, fields)), `role="alert"`); strings.Contains(text, "Try again") {
			t.Errorf("%s: what nobody typed is shown again: %s", verb, text)
		}
	}
	v.cookies = nil
	a = v.post("/do/append", url.Values{"content": {wrote}, "back": {"/log"}})
	if text := body(t, a); a.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "\n\n &lt;b&gt;Three&lt;/b&gt;\nlines &amp; more</textarea>") || !strings.Contains(text, `name="to" value="/log"`) {
		t.Errorf("without a cookie: status %d: %s", a.StatusCode, text)
	}
}

// TestLimits: a form that is too large is refused, as its length says or when it is read, and so
// is a turn or an exploration if too much runs.
func TestLimits(t *testing.T) {
	v := visit(t)
	v.act("new", "title", "Bread")
	for _, declared := range []int64{page.MaxForm + 1, -1} {
		r := v.request("POST", "/do/append", nil)
		r.Body = io.NopCloser(io.LimitReader(endless{}, page.MaxForm+1))
		r.ContentLength = declared
		if a := v.do(r); a.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body(t, a), "at most 32 MB are accepted") {
			t.Errorf("%d bytes: status %d", declared, a.StatusCode)
		}
	}
	v.act("append", "content", "How wet?")
	v.act("agent/create", "name", "ada", "model", "m")
	n, end := v.page.Occupy()
	if n != 32 || !v.page.Busy() {
		t.Errorf("%d turns run at once", n)
	}
	v.command = func(string) (string, error) { return "true", nil }
	for verb, fields := range map[string][]string{
		"agent/chat": {"agent", "ada", "content", "Hello"}, "explore": {"strategies", "one", "command", "try"},
	} {
		if status, d := v.act(verb, fields...); status != http.StatusServiceUnavailable || d.Error.Code != "busy" {
			t.Errorf("%s: status %d, %+v", verb, status, d)
		}
	}
	end()
	if v.page.Busy() {
		t.Error("it is busy for ever")
	}
	if list, err := v.w.Explorations(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("there are explorations: %v, %v", list, err)
	}
}

// endless is a reader of the letter a.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// TestExplore: the form explores strategies with a model, or with a command that the user
// approved, by its name; everything else is refused before anything is written.
func TestExplore(t *testing.T) {
	v := arrive(t, func(_ context.Context, id string) (model.Model, error) {
		if id != "m" {
			return nil, &fault.Error{Code: fault.Usage, Message: "unknown model " + id}
		}
		return wordy{}, nil
	})
	v.login()
	v.command = func(name string) (string, error) {
		if name != "try" {
			return "", &fault.Error{Code: fault.Refused, Message: "the user has not approved the command " + name}
		}
		return "echo By bike.", nil
	}
	v.act("new", "title", "Commute")
	v.act("append", "content", "How do I get there?")
	const two = "quick: the shortest\r\n\r\n cheap\n"
	for _, c := range []struct {
		fields []string
		status int
		part   string
	}{
		{[]string{"strategies", " \n", "model", "m"}, 400, "no strategies"},
		{[]string{"strategies", ": what", "model", "m"}, 400, "has no name"},
		{[]string{"strategies", "a\na", "model", "m"}, 400, "two strategies"},
		{[]string{"strategies", two}, 400, "no command and no model"},
		{[]string{"strategies", two, "model", "command:true"}, 400, "unknown model"},
		{[]string{"strategies", two, "command", "rm"}, 409, "has not approved the command rm"},
		{[]string{"strategies", two, "command", "try", "model", "m"}, 400, "exclude each other"},
		{[]string{"strategies", two, "model", "m", "ref", "nothing"}, 404, "nothing"},
		{[]string{"strategies", two, "model", "m", "evaluate", "luck"}, 400, "luck"},
	} {
		if status, d := v.act("explore", c.fields...); status != c.status || !strings.Contains(d.Error.Message, c.part) {
			t.Errorf("%q: status %d, %+v", c.fields, status, d)
		}
	}
	if list, err := v.w.Explorations(t.Context()); err != nil || len(list) > 0 {
		t.Fatalf("there are explorations: %v, %v", list, err)
	}
	form := body(t, v.get("/explore?ref=Commute%40first"))
	if !strings.Contains(form, `action="/do/explore"`) || !strings.Contains(form, `<option value="try">`) || !strings.Contains(form, "How do I get there?") {
		t.Errorf("the form is %s", form)
	}
	for by, name := range map[string]string{"model": "m", "command": "try"} {
		if by == "command" && runtime.GOOS == "windows" {
			continue // without a shell
		}
		a := v.post("/do/explore", url.Values{"ref": {"Commute@first"}, "strategies": {two}, by: {name}})
		to, ok := strings.CutPrefix(a.Header.Get("Location"), "/explore/")
		if a.StatusCode != http.StatusSeeOther || !ok {
			t.Fatalf("%s: status %d: %s", by, a.StatusCode, body(t, a))
		}
		id, _, _ := strings.Cut(to, "#")
		x := &explore.Explorer{Workspace: v.w}
		e, err := x.Open(t.Context(), id)
		for err == nil && e.Evaluation == nil {
			time.Sleep(5 * time.Millisecond)
			e, err = x.Open(t.Context(), id)
		}
		if err != nil || len(e.Branches) != 2 || e.Branches[0].Description+e.Branches[1].Description != "the shortest" || strings.TrimSpace(e.Evaluation.Result) != "By bike." {
			t.Errorf("%s: %+v, %v", by, e, err)
		}
	}
}

// wordy is a model that always says the same.
type wordy struct{}

func (wordy) Ask(context.Context, *model.Request, func(string)) (*model.Reply, error) {
	return &model.Reply{Text: "By bike."}, nil
}

// TestAmbiguousForms: an error has links to what a name may refer to, and back to the form.
func TestAmbiguousForms(t *testing.T) {
	v := visit(t)
	v.act("new", "title", "Bread")
	v.act("new", "title", "Bread")
	a := v.post("/do/rename", url.Values{"session_id": {"Bread"}, "title": {"x"}, "back": {"/log?said=7"}})
	_, text, _ := strings.Cut(body(t, a), `role="alert"`)
	if a.StatusCode != http.StatusConflict || strings.Count(text, `<a href="/c/session_`) < 2 || !strings.Contains(text, `<a href="/log?said=7">Back</a>`) {
		t.Errorf("status %d: %s", a.StatusCode, text)
	}
	status, d := v.act("rename", "session_id", "Bread", "title", "x")
	if status != http.StatusConflict || d.Error.Code != "ambiguous" {
		t.Errorf("status %d, %+v", status, d)
	}
}

func newest(t *testing.T, w *workspace.Workspace) history.Operation {
	t.Helper()
	log, err := w.Log(t.Context(), history.LogOptions{Limit: 1})
	if err != nil || len(log.Operations) == 0 {
		t.Fatal(log, err)
	}
	return log.Operations[0]
}

func newestSeq(t *testing.T, w *workspace.Workspace) string {
	t.Helper()
	return jsonNumber(int64(newest(t, w).Seq))
}

// removed returns the session that was moved to the trash last.
func removed(t *testing.T, w *workspace.Workspace) string {
	t.Helper()
	list, err := w.Trash(t.Context())
	if err != nil || len(list.Files) == 0 {
		t.Fatal(list, err)
	}
	return string(list.Files[0].Session)
}

// TestAdopt: the head moves to the outcome of an exploration, and back with the undo.
func TestAdopt(t *testing.T) {
	v := visit(t)
	ctx := t.Context()
	v.act("new", "title", "Trip")
	v.act("append", "content", "Which way to the sea?")
	shown, err := v.w.Show(ctx, "Trip", readOptions)
	if err != nil {
		t.Fatal(err)
	}
	node := shown.Messages[0].ID
	const id, branch = "3f1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a11", "1a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a01"
	x := &explore.Exploration{
		ID: id, Session: shown.Entry.ID, Node: node, Question: "Which way to the sea?", Method: explore.Best, Config: explore.Defaults(),
		Active: []string{}, Notes: []explore.Note{}, CreatedAt: "2026-05-22T18:12:37.045129+00:00", EndedAt: "2026-05-22T18:14:37.045129+00:00",
		Branches: []explore.Branch{{ID: branch, Parent: node, Strategy: "by train", Depth: 1, Status: explore.Completed, Result: "The train.", Insights: []string{}}},
	}
	if err := v.w.Exploration(id).Write(ctx, x.Encode()); err != nil {
		t.Fatal(err)
	}
	status, d := v.act("explore/adopt", "id", id, "branch_id", branch)
	if status != http.StatusOK || d.Said != "Continuing from here in “Trip”" || d.To != "/explore/"+id {
		t.Fatalf("status %d, %+v", status, d)
	}
	if d.Undo == nil {
		t.Fatal("there is no undo")
	}
	before := d.To
	status, d = v.act("undo", "seq", jsonNumber(*d.Undo), "back", before)
	if status != http.StatusOK || d.Said != "Undid: continuing from here in “Trip”" || !d.Redo || d.To != before {
		t.Errorf("undo: status %d, %+v", status, d)
	}
	if p, err := v.w.Head(ctx); err != nil || string(p.Head.Message) != node {
		t.Errorf("the head is %+v, %v", p, err)
	}
}
