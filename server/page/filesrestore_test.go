package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"golang.org/x/net/html"
)

// TestRestorePlan: the plan lists what would change, and has a form only if something can be
// restored. Nothing changes by looking at it.
func TestRestorePlan(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("flour", "rye\n")
	p.write("water", "cold\n")
	message, first := p.say("one")
	p.write("flour", "wheat\n")
	p.write("salt", "2 %\n")
	later, _ := p.sayAs("assistant", "two")
	read := func() string {
		t.Helper()
		names, err := os.ReadDir(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, e := range names {
			data, err := os.ReadFile(filepath.Join(p.dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text += e.Name() + " " + strings.TrimSpace(string(data)) + ";"
		}
		return text
	}
	before := read()
	form := func(d *drawn) *html.Node {
		for _, n := range d.with("method", "post") {
			if attr(n, "data-act") == "restore-files" {
				return n
			}
		}
		return nil
	}
	ref := "/files/restore?ref=Bread@" + message
	conversation := draw(t, p.w, "/c/Bread")
	if n := len(conversation.with("data-act", "restore-files")); n != 2 {
		t.Errorf("%d messages offer to restore files", n)
	}
	if links := conversation.with("data-act", "turn"); len(links) != 1 || !strings.HasSuffix(attr(links[0], "href"), later) {
		t.Errorf("%d messages lead to what their turn changed", len(links))
	}
	draw(t, p.w, "/files/"+first).leads("/files/restore?ref=" + first)
	d := draw(t, p.w, ref)
	d.contains("2 files would change", "To be written, as the state has them flour", "To be deleted, because the state does not have them salt")
	if f := form(d); f == nil || attr(f, "action") != "/do/rewind/files" {
		t.Errorf("the form is %v", f)
	}
	if f := form(draw(t, p.w, ref+"&what=both")); f == nil || attr(f, "action") != "/do/rewind/both" {
		t.Errorf("the form for both is %v", f)
	}
	if f := form(draw(t, p.w, "/files/restore?ref="+first+"&what=both")); f == nil || attr(f, "action") != "/do/rewind/files" {
		t.Errorf("the form of a state is %v", f)
	}
	nothing := draw(t, p.w, "/files/restore?ref=Bread@"+later)
	nothing.contains("There is nothing to restore")
	if form(nothing) != nil {
		t.Error("there is a form to restore nothing")
	}
	p.write("flour", "spelt\n")
	before = strings.Replace(before, "wheat", "spelt", 1)
	refused := draw(t, p.w, ref)
	refused.contains("1 conflict", "flour changed since; the state has another version", "Nothing can be restored like this.")
	if form(refused) != nil {
		t.Error("there is a form although it would be refused")
	}
	kept := draw(t, p.w, ref+"&way=keep")
	kept.contains("1 file would change", "flour others changed it too")
	if fields := kept.with("name", "conflicts"); len(fields) != 1 || attr(fields[0], "value") != "keep" {
		t.Error("the form does not keep what others changed")
	}
	draw(t, p.w, ref+"&way=whole").contains("2 files would change")
	if checkpoint, err := p.w.Checkpoint(t.Context(), "Bread", workspace.SnapshotOptions{Name: "Baked"}); err != nil {
		t.Fatal(err)
	} else {
		draw(t, p.w, "/k/"+checkpoint.ID).leads("/files/restore?ref=" + checkpoint.ID + "&what=both")
	}
	leads := draw(t, p.w, "/files/turn?ref=Bread@"+later)
	leads.contains("2 files: 1 added, 1 changed")
	leads.leads("/files/restore?ref=Bread%40" + later + "&what=turn")
	back := draw(t, p.w, "/files/restore?ref=Bread@"+later+"&what=turn&way=keep")
	back.contains("Revert a turn in", "1 file would change")
	if f := form(back); f == nil || attr(f, "action") != "/do/files/turn/undo" {
		t.Errorf("the form of a turn is %v", f)
	}
	for path, status := range map[string]int{"/files/restore": 400, "/files/restore?ref=nothing": 404, ref + "&way=mine": 400, ref + "&dir=/": 409} {
		answer(t, p.w, path, status, nil)
	}
	if got := read(); got != before {
		t.Errorf("the files are %q, were %q", got, before)
	}
}
