package page

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"golang.org/x/net/html"
)

// TestOrigins: the lines of a file lead to the messages that wrote them, and its history to what
// changed it; of a folder without states nothing is read.
func TestOrigins(t *testing.T) {
	p := newProject(t)
	p.write("flour", "rye\n")
	p.say("How wet?")
	p.write("flour", "rye\nwheat\n")
	message, state := p.sayAs("assistant", "With wheat.")
	p.write("flour", "rye\nwheat\nsalt\n")
	dir := url.QueryEscape(p.dir)
	lines := draw(t, p.w, "/files/blame?path=flour&dir="+dir)
	lines.contains("The file as it is now", "Older than the first state", "How wet?", "You, or another program", "wheat", "salt")
	shown, err := p.w.Show(t.Context(), "Bread", partial())
	if err != nil {
		t.Fatal(err)
	}
	lines.leads(messageAddress(shown.Entry.ID, message))
	then := draw(t, p.w, "/files/blame?path=flour&at="+state+"&dir="+dir)
	then.contains("As of", "With wheat.")
	then.leads("/files/log?dir=" + dir + "&path=flour")
	history := draw(t, p.w, "/files/log?path=flour&dir="+dir)
	history.contains("How wet?", "+1 −0", "Older than the first state", "Who wrote each line")
	draw(t, p.w, "/files/"+state+"/flour").leads("/files/blame?at=" + state + "&dir=" + dir + "&path=flour")
	draw(t, p.w, "/files/log?path=.&dir="+dir).contains("flour", "changed")
	p.write("long", strings.Repeat("a line\n", 1500))
	p.sayAs("assistant", "Long.")
	isLine := func(n *html.Node) bool { return n.Data == "li" && attr(n.Parent, "class") == "lines" }
	long := draw(t, p.w, "/files/blame?path=long&dir="+dir)
	long.leads("/files/blame?dir=" + dir + "&path=long&first=1001")
	if n := len(long.find(isLine)); n != 1000 {
		t.Errorf("%d lines are shown", n)
	}
	if n := len(draw(t, p.w, "/files/blame?path=long&first=1001&dir="+dir).find(isLine)); n != 500 {
		t.Errorf("%d more lines are shown", n)
	}
	other := url.QueryEscape(t.TempDir())
	for path, status := range map[string]int{
		"/files/blame?path=x&dir=" + other: 409, "/files/log?path=x&dir=" + other: 409, "/files/blame?path=%2Fetc%2Fpasswd&dir=" + dir: 400,
		"/files/log?path=..%2Fx&dir=" + dir: 400, "/files/blame": 400, "/files/blame?path=nothing&dir=" + dir: 404, "/files/blame?path=flour&first=x&dir=" + dir: 400,
	} {
		answer(t, p.w, path, status, nil)
	}
}

// TestBisection: of each step the page asks whether its files are good, until one step is left, and
// nothing changes; a step that cannot be tested leaves several.
func TestBisection(t *testing.T) {
	p := newProject(t)
	for i, text := range []string{"rye\n", "wheat\n", "spelt\n", "oats\n", "corn\n"} {
		p.write("flour", text)
		if i%2 == 0 {
			p.say("Flour " + text)
		} else {
			p.sayAs("assistant", "Flour "+text)
		}
	}
	d := draw(t, p.w, "/files/bisect?ref=Bread")
	press := func(act string) *drawn {
		t.Helper()
		links := d.with("data-act", act)
		if len(links) != 1 {
			t.Fatalf("%d links %s: %s", len(links), act, d.text)
		}
		return draw(t, p.w, attr(links[0], "href"))
	}
	d.contains("5 steps on a path of 5 messages, about 2 tests left", "Are these files good?", "Flour spelt", "changed by:")
	begin := d
	d = press("bad")
	d.contains("3 steps on a path of 3 messages, about 1 test left", "Begin again")
	d = press("good")
	d.contains("This made it go wrong", "up to", "What changed")
	if len(d.with("data-act", "good")) != 0 {
		t.Error("at the end it asks for another step")
	}
	d = begin
	d = press("skip")
	d = press("good")
	d = press("bad")
	d.contains("One of these made it go wrong", "skipped")
	answer(t, p.w, "/files/bisect?ref=nothing", 404, nil)
	answer(t, p.w, "/files/bisect?ref=Bread@first", 409, nil)
	answer(t, p.w, "/files/bisect?ref=Bread&good=nothing", 404, nil)
	answer(t, p.w, "/files/bisect?ref=Bread&dir="+url.QueryEscape(t.TempDir()), 409, nil)
}

// TestMergeFiles: the plan of a merge with files shows what changes in the folder; conflicts need a
// choice.
func TestMergeFiles(t *testing.T) {
	p := newProject(t)
	p.write("flour", "rye\n")
	p.write("salt", "1 %\n")
	p.sayAs("assistant", "With rye.")
	if _, err := p.w.Branch(t.Context(), "Bread", workspace.SnapshotOptions{Name: "Aside"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.w.Append(t.Context(), workspace.Append{Session: "Aside", Text: "And wheat?"}); err != nil {
		t.Fatal(err)
	}
	p.write("flour", "wheat\n")
	p.snap("Aside")
	p.write("flour", "rye\n")
	const plan = "/merge?branch=Aside&into=Bread"
	draw(t, p.w, plan).contains("1 message would be merged", "Its files too")
	d := draw(t, p.w, plan+"&files=true")
	d.contains("1 message would be merged. 1 file would change", "To be written, as the state has them", "flour")
	if forms := d.with("data-act", "merge"); len(forms) != 1 || len(d.with("value", p.dir)) != 1 {
		t.Errorf("the form does not name the folder: %s", d.text)
	}
	p.write("flour", "spelt\n")
	d = draw(t, p.w, plan+"&files=true")
	d.contains("1 conflict", "Conflicts: the branch changed these files, and they changed here too", "Nothing can be merged like this.")
	if forms := d.with("data-act", "merge"); len(forms) != 0 {
		t.Error("a merge with conflicts is offered")
	}
	d = draw(t, p.w, plan+"&files=true&way=take")
	d.contains("1 file would change")
	if len(d.with("name", "conflicts")) != 1 || len(d.with("data-act", "merge")) != 1 {
		t.Errorf("the choice is not in the form: %s", d.text)
	}
}
