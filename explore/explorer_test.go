package explore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// modelled returns an explorer with a model for any id.
func (l *lab) modelled(m stub) *explore.Explorer {
	x := l.explorer()
	x.Model = func(_ context.Context, id string) (model.Model, error) {
		if id == "missing" {
			return nil, errors.New("no model")
		}
		return m, nil
	}
	return x
}

// asked returns the text of the last message of a request.
func asked(r *model.Request) string { return string(r.Messages[len(r.Messages)-1].Content) }

func problemOf(err error) explore.Problem {
	var e *explore.Error
	if errors.As(err, &e) {
		return e.Problem
	}
	return ""
}

var ways = []explore.Strategy{{Name: "merge", Description: "by halves"}, {Name: "radix", Description: "by digits"}}

// TestExplorer calls the methods of a front end, from the plan to the removal.
func TestExplorer(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	x := l.modelled(func(_ context.Context, r *model.Request) (string, error) {
		switch said := asked(r); {
		case strings.Contains(said, "Several approaches"):
			return "Both.", nil
		case strings.Contains(said, "radix"):
			return "By digits.\nConfidence: 0.9", nil
		}
		return "By halves.\nConfidence: 0.8", nil
	})
	var told []string
	x.Progress = func(e *explore.Exploration) {
		if !slices.Contains(told, e.ID) {
			told = append(told, e.ID)
		}
	}
	plan, err := x.Plan(ctx, explore.Request{Ref: l.tree, Strategies: ways, Runner: explore.Runner{Model: "m"}})
	if err != nil || !plan.Explores || plan.Method != explore.Best || plan.Node != l.node || plan.Question != "How is this sorted best?" || plan.Confidence != nil {
		t.Fatalf("Plan = %+v, %v", plan, err)
	}
	if list, err := x.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("planning made %+v, %v", list, err)
	}
	e, err := x.Run(ctx, plan)
	if err != nil || e.Evaluation.Result != "By digits." || e.Outcome == nil || e.Adopted != nil || !slices.Equal(told, []string{e.ID}) {
		t.Fatalf("Run = %+v, %v; progress of %q", e, err, told)
	}
	if again, err := x.Resume(ctx, e.ID[:8]); err != nil || string(again.Encode()) != string(e.Encode()) {
		t.Errorf("Resume of an ended one = %+v, %v", again, err)
	}
	if stats, err := x.Statistics(ctx); err != nil || len(stats) != 2 || stats[0].Rate != 1 || stats[0].Runs != 1 {
		t.Errorf("Statistics = %+v, %v", stats, err)
	}

	if _, err := x.Evaluate(ctx, e.ID, "worst"); !errors.Is(err, fault.Usage) {
		t.Errorf("Evaluate by an invalid method: %v", err)
	}
	both, err := x.Evaluate(ctx, e.ID, "merge")
	if err != nil || both.Evaluation.Result != "Both." || *both.Outcome == *e.Outcome {
		t.Errorf("Evaluate = %+v, %v", both.Evaluation, err)
	}
	for _, name := range []string{"", "merge", e.Branches[0].ID, e.Branches[0].ID[:13], "MERGE"} {
		adopted, err := x.Adopt(ctx, e.ID, name)
		if err != nil {
			t.Fatalf("Adopt(%q): %v", name, err)
		}
		want := "By halves."
		if name == "" {
			want = "Both."
		}
		shown, err := l.w.Show(ctx, l.tree, session.ReadOptions{})
		head, headErr := l.w.Head(ctx)
		if last := shown.Messages[len(shown.Messages)-1]; err != nil || headErr != nil || string(head.Head.Message) != *adopted.Adopted || last.Text() != want {
			t.Errorf("Adopt(%q) moved the head to %q, %v, %v", name, last.Text(), err, headErr)
		}
	}
	for name, want := range map[string]error{"heap": fault.NotFound, "-": fault.NotFound, "rad": fault.NotFound} {
		if _, err := x.Adopt(ctx, e.ID, name); !errors.Is(err, want) {
			t.Errorf("Adopt(%q): %v", name, err)
		}
	}

	x.AdoptOutcome = true
	if plan, err = x.Plan(ctx, explore.Request{Ref: l.tree + "@" + l.node, Strategies: ways, Runner: explore.Runner{Model: "m"}, Method: "merge"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(plan.Strategies[0].Reason, "1 of 1 run in similar contexts succeeded") || plan.Strategies[0].Confidence <= plan.Strategies[0].Was {
		t.Errorf("with learnings the plan is %+v", plan.Strategies)
	}
	other, err := x.Run(ctx, plan)
	if err != nil || other.Adopted == nil || *other.Adopted != *other.Outcome || other.Evaluation.Result != "Both." {
		t.Errorf("Run with adoption = %+v, %v", other, err)
	}
	list, err := x.List(ctx)
	if err != nil || len(list) != 2 || list[0].ID != other.ID {
		t.Errorf("List = %+v, %v", list, err)
	}

	removed, err := x.Remove(ctx, e.ID, true)
	if err != nil || removed.ID != e.ID || len(removed.Removed) != 2 || len(removed.Kept) != 0 {
		t.Errorf("Remove = %+v, %v", removed, err)
	}
	if _, err := x.Open(ctx, e.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("Open of a removed exploration: %v", err)
	}
	if err := l.w.Exploration(e.ID).Write(ctx, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if list, err := x.List(ctx); err != nil || len(list) != 1 {
		t.Errorf("List with a damaged one = %+v, %v", list, err)
	}
	if _, err := x.Remove(ctx, e.ID, true); !errors.Is(err, fault.Damaged) {
		t.Errorf("Remove of a damaged one with its branches: %v", err)
	}
	if _, err := x.Remove(ctx, e.ID, false); err != nil {
		t.Errorf("Remove of a damaged one: %v", err)
	}
	if report, err := l.w.Doctor(ctx, doctor.Options{}); err != nil || !report.OK {
		t.Errorf("doctor finds %+v, %v", report, err)
	}
}

// TestExplorerInterrupted: an error has the next step that a front end can offer: to resume
// a stopped exploration, or to evaluate results that the model could not evaluate.
func TestExplorerInterrupted(t *testing.T) {
	l := newLab(t)
	ctx, interrupt := context.WithCancel(t.Context())
	broken := true
	m := stub(func(asking context.Context, r *model.Request) (string, error) {
		switch said := asked(r); {
		case strings.Contains(said, "Several approaches"):
			if broken {
				return "", errors.New("out of order")
			}
			return "Both.", nil
		case strings.Contains(said, "radix") && ctx.Err() == nil:
			interrupt()
			<-asking.Done()
			return "", asking.Err()
		}
		return "Good.\nConfidence: 0.8", nil
	})
	x := l.modelled(m)
	plan, err := x.Plan(ctx, explore.Request{Ref: l.tree, Strategies: ways, Runner: explore.Runner{Model: "m"}, Method: explore.Synthesis, Settings: []byte(`{"max_concurrent": 1}`)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := x.Run(ctx, plan)
	if problemOf(err) != explore.Interrupted || err.Error() != "the exploration was stopped; 1 of 2 branches have ended" || !errors.Is(err, context.Canceled) {
		t.Fatalf("Run = %v", err)
	}
	later := t.Context()
	if _, err := x.Evaluate(later, e.ID, explore.Best); problemOf(err) != explore.NotOver || !errors.Is(err, fault.Refused) {
		t.Errorf("Evaluate = %v", err)
	}
	if _, err := x.Remove(later, e.ID, false); problemOf(err) != explore.NotOver {
		t.Errorf("Remove = %v", err)
	}
	for range 2 {
		e, err = x.Resume(later, e.ID)
		if problemOf(err) != explore.NotEvaluated || !strings.Contains(err.Error(), "out of order") || !e.Done() || e.Evaluation != nil {
			t.Errorf("Resume = %+v, %v", e, err)
		}
	}
	broken = false
	if e, err = x.Resume(later, e.ID); err != nil || e.Evaluation.Result != "Both." {
		t.Errorf("Resume = %+v, %v", e, err)
	}

	release, err := l.w.Exploration(e.ID).Hold(later)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := x.Adopt(later, e.ID, ""); !errors.Is(err, fault.Busy) {
		t.Errorf("Adopt while another one holds it: %v", err)
	}
}

// TestResumeApproves: a command that the workspace stores does not run unless it is approved.
func TestResumeApproves(t *testing.T) {
	l := newLab(t)
	ran := filepath.Join(l.work, "ran")
	e := l.explore("echo > "+ran+"; echo done", explore.Defaults(), "a")
	if err := l.w.Exploration(e.ID).Write(t.Context(), e.Encode()); err != nil {
		t.Fatal(err)
	}
	x := l.explorer()
	refused := errors.New("refused")
	for _, approve := range []func(context.Context, explore.Runner) error{nil, func(_ context.Context, r explore.Runner) error {
		if r.Command != e.Runner.Command {
			t.Errorf("approved is %+v", r)
		}
		return refused
	}} {
		x.Approve = approve
		if _, err := x.Resume(t.Context(), e.ID); err == nil || approve != nil && !errors.Is(err, refused) {
			t.Errorf("Resume = %v", err)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
	x.Approve = func(context.Context, explore.Runner) error { return nil }
	if _, err := x.Resume(t.Context(), e.ID); err != nil {
		t.Errorf("Resume = %v", err)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error("the command did not run")
	}
}

// TestPlan: arguments have precedence over the agent's settings, and these over the
// workspace's; the strategies in a reply are recognized by the configured model, else by
// rules.
func TestPlan(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	if err := os.Mkdir(filepath.Join(l.dir, "explorations"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := func(s string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(l.dir, "explorations", "config.json"), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings(`{"max_depth": 2, "max_concurrent": 2, "prune": 0.1}`)
	if _, err := l.w.Agent("ada").Create(ctx, agents.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(l.dir, "agents", "ada.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(data), "{", `{"explore": {"max_depth": 4, "max_concurrent": 4}, `, 1)
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := threeWays
	x := l.modelled(func(context.Context, *model.Request) (string, error) { return answer, nil })
	said, err := l.w.Agent("ada").Chat(ctx, agents.Prompt{Text: "How is this sorted best?"}, agents.TurnOptions{Models: x.Model})
	if err != nil {
		t.Fatal(err)
	}
	reply := said.Tree + "@" + string(said.Node)
	p, err := x.Plan(ctx, explore.Request{Ref: reply, Settings: []byte(`{"max_concurrent": 8}`)})
	if err != nil || p.Config.MaxDepth != 4 || p.Config.MaxConcurrent != 8 || p.Config.Prune != 0.1 || p.Agent != "ada" || p.Runner.Model != "m" || len(p.Strategies) != 3 || p.Confidence == nil {
		t.Errorf("Plan = %+v, %v", p, err)
	}
	answer = `{"confidence": 0.75, "strategies": [{"name": "heap"}, {"name": "bucket"}]}`
	if p, err = x.Plan(ctx, explore.Request{Ref: reply, Recognizer: "m"}); err != nil || len(p.Strategies) != 2 || *p.Confidence != 0.75 || p.Strategies[0].Rule != "model" {
		t.Errorf("recognized by a model: %+v, %v", p, err)
	}
	answer = "no"
	var notes []string
	x.Note = func(s string) { notes = append(notes, s) }
	if p, err = x.Plan(ctx, explore.Request{Ref: reply, Recognizer: "m"}); err != nil || len(p.Strategies) != 3 || len(notes) != 1 {
		t.Errorf("recognized by rules: %+v, %v, %q", p, err, notes)
	}
	if _, err := x.Plan(ctx, explore.Request{Ref: reply, Recognizer: "missing"}); err == nil {
		t.Error("a missing model recognizes")
	}
	if _, err := x.Plan(ctx, explore.Request{Ref: l.tree}); problemOf(err) != explore.NoReply || !errors.Is(err, fault.Refused) {
		t.Errorf("of a message that is not a reply: %v", err)
	}
	p, err = x.Plan(ctx, explore.Request{Ref: l.tree, Strategies: ways})
	if err != nil || p.Config.MaxDepth != 2 {
		t.Errorf("Plan = %+v, %v", p, err)
	}
	if _, err := x.Run(ctx, p); problemOf(err) != explore.NoRunner || !errors.Is(err, fault.Usage) {
		t.Errorf("without a runner: %v", err)
	}
	p.Runner = explore.Runner{Command: "echo x", Dir: filepath.Dir(l.work)}
	if _, err := x.Run(ctx, p); !errors.Is(err, fault.Refused) {
		t.Errorf("with the folders of branches in the explored one: %v", err)
	}
	p.Runner = explore.Runner{Model: "m"}
	x.Model = nil
	if _, err := x.Run(ctx, p); !errors.Is(err, fault.Refused) {
		t.Errorf("without models: %v", err)
	}
	settings(`{"enabled": false}`)
	p, err = x.Plan(ctx, explore.Request{Ref: l.tree, Strategies: ways})
	if err != nil || p.Explores || !strings.Contains(p.Reason, "disabled") {
		t.Errorf("Plan = %+v, %v", p, err)
	}
	if _, err := x.Run(ctx, p); !errors.Is(err, fault.Refused) {
		t.Errorf("disabled: %v", err)
	}
	settings(`{"max_dept": 1}`)
	if _, err := x.Plan(ctx, explore.Request{Ref: l.tree, Strategies: ways}); !errors.Is(err, fault.Damaged) {
		t.Errorf("with broken settings: %v", err)
	}
	if list, err := x.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("there are %+v, %v", list, err)
	}
}

// TestCheckpoint: an exploration of a message in a checkpoint begins in a branch of the
// checkpoint.
func TestCheckpoint(t *testing.T) {
	l := newLab(t)
	c, err := l.w.Checkpoint(t.Context(), l.tree, workspace.SnapshotOptions{Name: "before"})
	if err != nil {
		t.Fatal(err)
	}
	x := l.explorer()
	x.Folder = ""
	t.Setenv("XDG_CACHE_HOME", l.work)
	p, err := x.Plan(t.Context(), explore.Request{Ref: c.ID, Strategies: ways, Runner: explore.Runner{Command: "echo $BOUGH_STRATEGY > kept; cat kept", Keep: true}})
	if err != nil || p.Checkpoint != c.ID {
		t.Fatalf("Plan = %+v, %v", p, err)
	}
	e, err := x.Run(t.Context(), p)
	if err != nil || e.Session == c.ID || e.Evaluation.Result != "merge" {
		t.Errorf("Run = %+v, %v", e, err)
	}
	folder, err := x.BranchFolders(e)
	if kept, globErr := filepath.Glob(filepath.Join(folder, "*", "kept")); err != nil || globErr != nil || len(kept) != 2 || !strings.HasPrefix(folder, l.work) {
		t.Errorf("kept is %q in %s, %v", kept, folder, err)
	}
}

// TestValidate: an invalid request is an error before anything is read.
func TestValidate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    explore.Request
		want string
		code error
	}{
		{explore.Request{Strategies: ways, Settings: []byte(`{"max_depth": 1}`), Method: "merge"}, "", nil},
		{explore.Request{}, "", nil},
		{explore.Request{Strategies: []explore.Strategy{{Name: " "}}}, "strategy 1 has no name", fault.Usage},
		{explore.Request{Strategies: []explore.Strategy{{Name: "\xff"}}}, "not valid UTF-8", fault.Usage},
		{explore.Request{Strategies: []explore.Strategy{{Name: "a"}, {Name: "b"}, {Name: "a"}}}, `two strategies are named "a"`, fault.Usage},
		{explore.Request{Method: "worst"}, `"worst"`, fault.Usage},
		{explore.Request{Settings: []byte(`{"max_depth": 0}`)}, "max_depth is 0", fault.Usage},
		{explore.Request{Settings: []byte(`[`)}, "byte", fault.Usage},
		{explore.Request{Runner: explore.Runner{Bindings: map[string]string{"": "x"}}}, "environment", fault.Usage},
		{explore.Request{Runner: explore.Runner{Bindings: map[string]string{"A=B": "x"}}}, "environment", fault.Usage},
		{explore.Request{Runner: explore.Runner{Bindings: map[string]string{"A": "\x00"}}}, "environment", fault.Usage},
		{explore.Request{Runner: explore.Runner{Bindings: map[string]string{"BOUGH_TOKEN": "x"}}}, "BOUGH_TOKEN", fault.Usage},
		{explore.Request{Runner: explore.Runner{Dir: file}}, "not a folder", fault.Usage},
		{explore.Request{Runner: explore.Runner{Dir: "."}}, "not an absolute path", fault.Usage},
		{explore.Request{Runner: explore.Runner{Dir: file + "s"}}, "no folder", fault.NotFound},
	} {
		err := c.r.Validate()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, c.code) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %s", c.r, err, c.want)
		}
	}
}

// TestFindBranch: a strategy that two branches tried is ambiguous, and the error has both.
func TestFindBranch(t *testing.T) {
	const first, second = "aaaa1111-0000-4000-8000-00000000000a", "aaaa2222-0000-4000-8000-00000000000b"
	e := &explore.Exploration{Branches: []explore.Branch{{ID: first, Strategy: "Merge"}, {ID: second, Strategy: "Merge", Parent: first}, {ID: "bbbb", Strategy: "merge"}}}
	for name, want := range map[string]string{first: first, "merge": "bbbb", "aaaa2": second} {
		if b, err := e.Find(name); err != nil || b.ID != want {
			t.Errorf("Find(%q) = %+v, %v", name, b, err)
		}
	}
	for name, want := range map[string]int{"Merge": 2, "MERGE": 3, "aaaa": 2} {
		var several *fault.AmbiguousError
		if _, err := e.Find(name); !errors.As(err, &several) || len(several.Candidates) != want || several.Candidates[0].Message != first {
			t.Errorf("Find(%q): %+v", name, err)
		}
	}
	var missing *fault.Error
	if _, err := e.Find("aaa"); !errors.As(err, &missing) || missing.Code != fault.NotFound || missing.Hint != `branches: ["Merge" "Merge" "merge"]` {
		t.Errorf("Find: %+v", err)
	}
}
