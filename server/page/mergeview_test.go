package page_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/merge"
)

// branched makes a conversation Trip with a branch Train of two messages.
func (v *visitor) branched() {
	v.t.Helper()
	v.act("new", "title", "Trip")
	v.act("append", "content", "Where shall we go?")
	v.act("append", "content", "To Lisbon.", "role", "assistant")
	v.act("branch", "ref", "Trip", "name", "Train")
	v.act("append", "content", "Is there a night train?")
	v.act("append", "content", "We will book the berths at 21:43.", "role", "assistant")
	v.act("rewind", "ref", "Trip")
}

// says fails the test unless an address answers with a status and texts.
func (v *visitor) says(path string, status int, texts ...string) string {
	v.t.Helper()
	path, _, _ = strings.Cut(path, "#")
	a := v.get(path)
	text := body(v.t, a)
	if _, main, ok := strings.Cut(text, `<main id="main"`); ok {
		text = main
	}
	if a.StatusCode != status {
		v.t.Errorf("%s: status %d: %.300s", path, a.StatusCode, text)
	}
	for _, want := range texts {
		if !strings.Contains(text, want) {
			v.t.Errorf("%s does not say %q: %s", path, want, text)
		}
	}
	return text
}

// TestMerge: the plan of a merge shows what it does and changes nothing; the form does it, by
// rules, by the user or by a model, which the server has to have.
func TestMerge(t *testing.T) {
	cited := ""
	v := arrive(t, func(_ context.Context, id string) (model.Model, error) {
		if id != "m" {
			return nil, &fault.Error{Code: fault.Usage, Message: "unknown model " + id}
		}
		return answering(func() string { return cited }), nil
	})
	v.login()
	v.branched()
	before := newest(t, v.w)
	text := v.says("/merge?branch=Train", 200, "2 messages would be merged", "We will book the berths at 21:43.", `<option value="HEAD" selected>`, `action="/do/merge"`, `name="digest"`)
	if strings.Contains(text, `name="files"`) {
		t.Error("files are offered without states")
	}
	v.says("/merge?branch=Train&by=summary", 200, `<textarea name="summary"`)
	if text := v.says("/merge?branch=Train&by=model", 200, "Name the model"); strings.Contains(text, `action="/do/merge"`) {
		t.Error("a merge without a model is offered")
	}
	v.says("/merge?branch=Train&by=model&model=other", 200, "unknown model other")
	v.says("/merge?branch=Train&by=model&model=m", 200, "Write what the branch came to", `name="model" value="m"`)
	v.says("/merge?branch=Trip", 200, "the target has all messages of the branch")
	v.says("/merge?branch=nothing", 404)
	v.says("/merge?branch=Train&into=nothing", 404)
	v.says("/merge", 400)
	if after := newest(t, v.w); after.Seq != before.Seq {
		t.Fatalf("a plan changed something: %+v", after)
	}

	status, d := v.act("merge", "branch", "Train", "into", "HEAD", "digest", "true")
	if status != 200 || d.Said != "Merged “Train” into “Trip”" || !strings.HasPrefix(d.To, "/c/") {
		t.Fatalf("status %d, %+v", status, d)
	}
	v.says(d.To, 200, `Merged 2 messages of <a href="/c/`, "<bdi>Train</bdi>")
	v.says("/merge?branch=Train", 200, "no message since its last merge")
	v.says("/compare?a=Train&b=Trip", 200, "Merged &#34;Train&#34;", `<span class="tag"><bdi>merge</bdi></span>`)
	if status, d := v.act("undo", "seq", newestSeq(t, v.w)); status != 200 {
		t.Fatalf("undo: status %d, %+v", status, d)
	}
	if status, d := v.act("merge", "branch", "Train", "into", "HEAD", "model", "m"); status != 409 {
		t.Errorf("a text that cites nothing: status %d, %+v", status, d)
	}
	shown, err := v.w.Show(t.Context(), "Train", readOptions)
	if err != nil {
		t.Fatal(err)
	}
	cited = "By night train [" + shown.Refs[3] + "]."
	if status, d := v.act("merge", "branch", "Train", "into", "HEAD", "model", "m"); status != 200 {
		t.Errorf("by a model: status %d, %+v", status, d)
	}
	a := v.post("/do/merge", url.Values{"branch": {"Train"}, "into": {"nothing"}, "summary": {"By train."}})
	if text := body(t, a); a.StatusCode != http.StatusNotFound || !strings.Contains(text, "By train.</textarea>") {
		t.Errorf("what was typed is lost: status %d: %s", a.StatusCode, text)
	}
}

// TestCompareByModel: a model is asked about a comparison on request only, what it says is shown
// with the messages that it cites until a path is longer, and an answer that cites nothing is
// refused.
func TestCompareByModel(t *testing.T) {
	asked, answer := 0, ""
	v := arrive(t, func(context.Context, string) (model.Model, error) {
		return answering(func() string { asked++; return answer }), nil
	})
	v.login()
	v.branched()
	v.act("append", "content", "And a *ship*?")
	v.says("/compare?a=Train&b=Trip", 200, `action="/do/compare"`, `name="refs" value="Train"`, `name="refs" value="Trip"`)
	ask := func(want int) (to string) {
		t.Helper()
		status, d := v.act("compare", "refs", "Train", "refs", "Trip", "model", "m")
		if status != want {
			t.Fatalf("status %d, %+v, want %d", status, d, want)
		}
		return d.To
	}
	ask(409)
	shown, err := v.w.Show(t.Context(), "Train", readOptions)
	if err != nil {
		t.Fatal(err)
	}
	answer = "Go **by train**: it is booked [" + shown.Refs[3] + "], after [" + shown.Refs[1] + "]."
	if to := ask(200); to != "/compare?a=Train&b=Trip" {
		t.Errorf("it leads to %q", to)
	}
	v.says("/compare?a=Train&b=Trip", 200, "What <bdi>m</bdi> says", "<strong>by train</strong>", `">`+shown.Refs[3]+`</a> <span dir="auto">We will book the berths`, `">`+shown.Refs[1]+`</a> <span dir="auto">To Lisbon.`)
	if text := v.says("/compare?a=Trip&b=Train", 200); strings.Contains(text, "says</h2>") {
		t.Error("another comparison has the summary")
	}
	if v.says("/compare?a=Train&b=Trip", 200); asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
	v.act("append", "session_id", "Train", "content", "More?")
	if text := v.says("/compare?a=Train&b=Trip", 200); strings.Contains(text, "says</h2>") {
		t.Error("the summary of a shorter path is shown")
	}
}

// TestCompareThree: three paths are compared, and a third one is offered.
func TestCompareThree(t *testing.T) {
	v := visit(t)
	v.branched()
	v.act("branch", "ref", "Trip@first", "name", "Car")
	v.act("append", "content", "And by car?")
	v.says("/compare?a=Train&b=Trip", 200, "2 messages in common", "2 messages · 1 turn", "/compare?a=Train&amp;b=Trip&amp;more=1", "Nothing of its own.")
	v.says("/compare?a=Train&b=Trip&more=1", 200, `name="c"`, "&amp;c=session_", "Car")
	text := v.says("/compare?a=Train&b=Trip&c=Car", 200, "1 message in common", "columns of-3", "And by car?", "3 messages · 1 turn")
	if strings.Contains(text, "more=1") {
		t.Error("a fourth path is offered")
	}
	v.says("/compare?a=Train&b=Trip&c=nothing", 404)
}

// answering is a model that says what a function returns.
type answering func() string

func (f answering) Ask(context.Context, *model.Request, func(string)) (*model.Reply, error) {
	text := f()
	if text == "" {
		text = "Nothing to cite."
	}
	return &model.Reply{Text: text}, nil
}

// TestReplay: the form says messages again, its page shows how far it is and compares at the end;
// where an answer asks something it stops, and goes on.
func TestReplay(t *testing.T) {
	n := 0
	answers := []string{"To Oslo?", "By ship."}
	v := arrive(t, func(_ context.Context, id string) (model.Model, error) {
		if id != "m" {
			return nil, &fault.Error{Code: fault.Usage, Message: "unknown model " + id}
		}
		return answering(func() string { n++; return answers[(n-1)%2] }), nil
	})
	v.login()
	v.branched()
	shown, err := v.w.Show(t.Context(), "Train", readOptions)
	if err != nil {
		t.Fatal(err)
	}
	second := shown.Messages[2].ID
	v.says("/replay?ref=Train", 200, `name="ref" value="..`+shown.Entry.ID, "Where shall we go?", "Is there a night train?", "an agent named replay", "tokens in, ", "Change the text…")
	v.says("/replay?ref=Train&from="+second, 200, `value="`+shown.Entry.ID+"@"+shown.Messages[1].ID+"..")
	v.says("/replay?ref=Train&from="+second+"&edit="+second, 200, `<textarea name="text"`)
	v.says("/replay?ref=Train&from=nothing", 404)
	v.says("/replay?ref=nothing", 404)
	v.says("/replay/"+shown.Entry.ID, 404)
	for _, fields := range [][]string{{"ref", "..Train", "model", "other"}, {"ref", "..Train"}} {
		if status, d := v.act("replay", fields...); status != 400 || d.Error.Message == "" {
			t.Errorf("%q: status %d, %+v", fields, status, d)
		}
	}
	v.settings(`{"models": {"prices": {"m": "1000000/2000000"}}}`)
	status, d := v.act("replay", "ref", ".."+shown.Entry.ID, "model", "m", "edit", shown.Messages[0].ID, "text", "Where shall we not go?")
	if status != 200 || !strings.HasPrefix(d.To, "/replay/session_") {
		t.Fatalf("status %d, %+v", status, d)
	}
	made := strings.TrimPrefix(d.To, "/replay/")
	wait := func(what string) string {
		for range 1000 {
			if text := v.says(d.To, 200); strings.Contains(text, what) {
				return text
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("never %q: %s", what, v.says(d.To, 200))
		return ""
	}
	text := wait("stopped</span>")
	for _, want := range []string{"1 of 2 answered", "the last answer asks something back", "To Oslo?", "Where shall we not go?", "columns of-2", `name="resume" value="` + made + `"`, "to be said", "tokens in", ", cost "} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of a replay that stopped does not say %q: %s", want, text)
		}
	}
	if status, d := v.act("replay/cancel", "session_id", made); status != 404 {
		t.Errorf("cancel what does not run: status %d, %+v", status, d)
	}
	if status, d := v.act("replay", "resume", made, "go_on", "true"); status != 200 || d.To != "/replay/"+made {
		t.Fatalf("resume: status %d, %+v", status, d)
	}
	wait("2 of 2 answered")
	if text := wait("finished</span>"); strings.Contains(text, `name="resume"`) || !strings.Contains(text, "By ship.") {
		t.Errorf("at the end: %s", text)
	}
	path, err := v.w.Show(t.Context(), made, readOptions)
	if err != nil || len(path.Messages) != 4 {
		t.Errorf("the branch has %v, %v", path, err)
	}
}

// settings writes the settings of the workspace.
func (v *visitor) settings(text string) {
	v.t.Helper()
	if err := os.WriteFile(filepath.Join(v.w.Dir(), "config.json"), []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// TestReplayWithoutMerges: the form and the page of a replay link to the merges that are omitted.
// The page says no cost of a model without a price.
func TestReplayWithoutMerges(t *testing.T) {
	v := arrive(t, func(context.Context, string) (model.Model, error) {
		return answering(func() string { return "By ship." }), nil
	})
	v.login()
	v.branched()
	merged, err := v.w.Merge(t.Context(), "Train", merge.Options{Into: "Trip", Summary: "We take the train."})
	if err != nil {
		t.Fatal(err)
	}
	to := string(merged.Session) + "@" + string(merged.Message)
	link := `#m-` + string(merged.Message) + `" dir="auto">We take the train.`
	v.settings(`{"models": {"prices": {"other": "1/2"}}}`)
	v.says("/replay?ref="+to, 200, "Merges, which nobody said, are omitted", link)
	status, d := v.act("replay", "ref", ".."+to, "model", "m")
	if status != 200 {
		t.Fatalf("status %d, %+v", status, d)
	}
	for range 1000 {
		text := v.says(d.To, 200, link)
		if strings.Contains(text, "finished</span>") {
			if !strings.Contains(text, "tokens in") || strings.Contains(text, ", cost ") {
				t.Errorf("without a price: %s", text)
			}
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the replay never ended")
}

// TestEditAnswered: a message in other words can be answered by an agent; the page leads to where
// the answer appears.
func TestEditAnswered(t *testing.T) {
	v := arrive(t, func(context.Context, string) (model.Model, error) {
		return answering(func() string { return "To Oslo." }), nil
	})
	v.login()
	v.branched()
	if status, d := v.act("edit", "ref", "Trip@first", "text", "Where?", "model", "m"); status != 400 || d.Error.Message == "" {
		t.Errorf("a model that answers nothing: status %d, %+v", status, d)
	}
	status, d := v.act("edit", "ref", "Trip@first", "text", "Where to?", "answer", "true", "model", "m")
	if status != 200 || !strings.HasPrefix(d.To, "/c/session_") {
		t.Fatalf("status %d, %+v", status, d)
	}
	for range 1000 {
		if text := v.says(d.To, 200, "Where to?"); strings.Contains(text, "To Oslo.") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the answer never appears")
}

// TestReplayCancel: a replay can be stopped, and what was said stays.
func TestReplayCancel(t *testing.T) {
	asked := make(chan struct{}, 1)
	v := arrive(t, func(context.Context, string) (model.Model, error) { return waiting(asked), nil })
	v.login()
	v.branched()
	status, d := v.act("replay", "ref", "..Train", "model", "m")
	if status != 200 || !strings.HasPrefix(d.To, "/replay/") {
		t.Fatalf("status %d, %+v", status, d)
	}
	<-asked
	v.says(d.To, 200, "replaying</span>", "being answered", "data-exchange", `action="/do/replay/cancel"`)
	made := strings.TrimPrefix(d.To, "/replay/")
	if status, d := v.act("replay/cancel", "session_id", made); status != 200 {
		t.Errorf("status %d, %+v", status, d)
	}
	for range 1000 {
		if text := v.says(d.To, 200); strings.Contains(text, "stopped</span>") {
			if !strings.Contains(text, "0 of 2 answered") || !strings.Contains(text, `name="resume"`) {
				t.Errorf("after the cancel: %s", text)
			}
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the replay never ends")
}

// waiting is a model that answers when it is canceled.
type waiting chan struct{}

func (w waiting) Ask(ctx context.Context, _ *model.Request, _ func(string)) (*model.Reply, error) {
	w <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSuggestions: branches that nobody took are listed with reasons, and lead to a comparison and
// to the plan of a merge; a person's bookmark takes one off the list.
func TestSuggestions(t *testing.T) {
	v := visit(t)
	v.says("/suggest", 200, "There is nothing to compare or merge.")
	v.branched()
	for _, text := range []string{"And by plane?", "Two hours.", "And back?"} {
		v.act("append", "session_id", "Trip", "content", text, "role", map[bool]string{true: "assistant", false: "user"}[text == "Two hours."])
	}
	v.says("/suggest", 200, "Train</a>", "We will book the berths at 21:43.", "unused answer after 2 messages; 3 messages on the other path", `href="/compare?a=session_`, `href="/merge?branch=session_`)
	v.act("bookmark", "ref", "Train", "label", "seen")
	v.says("/suggest", 200, "There is nothing to compare or merge.")
}
