package page

import (
	"testing"

	"github.com/bough-dev/bough/explore"
)

// TestAdoptionPlan: an exploration whose branches have states leads to the plan to adopt their
// files, which has a form only if it is not refused. Nothing changes by looking at it.
func TestAdoptionPlan(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("flour", "rye\n")
	p.say("Which flour?")
	x := &explore.Explorer{Workspace: p.w}
	plan, err := x.Plan(t.Context(), explore.Request{
		Ref: "Bread", Strategies: []explore.Strategy{{Name: "wheat"}, {Name: "spelt"}},
		Runner: explore.Runner{Command: "echo tried> plan.txt&& echo tried> notes.txt&& echo done", Dir: p.dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := x.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	b := e.Branches[1]
	address := "/explore/" + e.ID + "/adopt"
	exploration := draw(t, p.w, "/explore/"+e.ID)
	exploration.leads(address)
	exploration.leads(address + "?branch_id=" + b.ID)
	form := func(d *drawn) map[string]string {
		forms := d.with("data-act", "adopt-files")
		if len(forms) == 0 {
			return nil
		}
		fields := map[string]string{"action": attr(forms[0], "action")}
		for child := range forms[0].ChildNodes() {
			fields[attr(child, "name")] = attr(child, "value")
		}
		return fields
	}
	d := draw(t, p.w, address+"?branch_id="+b.ID)
	d.contains("2 files would change; the head moves to the result", "To be written, as the state has them notes.txt")
	if f := form(d); f["action"] != "/do/explore/adopt/files" || f["id"] != e.ID || f["branch_id"] != b.ID {
		t.Errorf("the form is %v", f)
	}
	d = draw(t, p.w, address+"?only=plan.txt%0D%0A")
	d.contains("1 file would change")
	if f := form(d); f["only"] != "plan.txt" || f["branch_id"] != "" {
		t.Errorf("the form of the outcome is %v", f)
	}
	p.write("plan.txt", "mine\n")
	d = draw(t, p.w, address)
	d.contains("1 conflict", "Conflicts: the branch changed these files, and they changed here too plan.txt added since", "Nothing can be restored like this.")
	if f := form(d); f != nil {
		t.Errorf("there is a form although it would be refused: %v", f)
	}
	d = draw(t, p.w, address+"?way=keep")
	d.contains("1 file would change", "plan.txt others changed it too")
	if f := form(d); f["conflicts"] != "keep" {
		t.Errorf("the form is %v", f)
	}
	for path, status := range map[string]int{"/explore/00000000/adopt": 404, address + "?branch_id=none": 404, address + "?only=..%2Fx": 400, address + "?way=mine": 400} {
		answer(t, p.w, path, status, nil)
	}
	if again, err := x.Open(t.Context(), e.ID); err != nil || again.Adopted != nil {
		t.Errorf("it was adopted: %v", err)
	}
}
